#!/usr/bin/env bash
# Writes what the product is made of as CycloneDX, from the locks and without a network, and checks that nothing is missing.
#
#   scripts/sbom.sh           into dist/sbom
#   scripts/sbom.sh FOLDER    into another folder
#
# server.cdx.json names the packages of Python, web.cdx.json what is built into the web app. The same locks give the same files.
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../dist/sbom}")
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/bootstrap.sh --dev
command -v npm >/dev/null 2>&1 || stop "npm is needed for the parts of the web app: install Node.js 20 or newer."

heading "List of parts"
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat requirements.lock requirements-data.lock >"$work/requirements.txt"
.venv/bin/cyclonedx-py requirements "$work/requirements.txt" --pyproject pyproject.toml --mc-type application \
  --output-reproducible --no-validate --spec-version 1.6 --output-format JSON --output-file "$work/server.cdx.json" 2>"$work/log" ||
  stop "$(cat "$work/log")"

.venv/bin/python scripts/sbom_parts.py web-lock "$work/web"
(cd "$work/web" && npm sbom --package-lock-only --sbom-format cyclonedx --sbom-type application --offline --loglevel=error) \
  >"$work/web.cdx.json"

.venv/bin/python scripts/sbom_parts.py check "$work"
mv "$work/server.cdx.json" "$work/web.cdx.json" "$folder/"
note "they are in $folder"
