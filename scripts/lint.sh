#!/usr/bin/env bash
# Style, types and layers of the server's code and of the web UI's.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/bootstrap.sh --dev
scripts/build_web.sh --install

check_web() {
  heading "Style and types of the web UI"
  cd web
  npm run --silent format:check
  npm run --silent lint
}
# Each uses one core: they run beside those of the server.
if [ -x web/node_modules/.bin/eslint ]; then
  begin check_web
fi

heading "Style"
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/codespell

heading "Types"
.venv/bin/mypy

heading "Layers"
.venv/bin/lint-imports

if [ -x web/node_modules/.bin/eslint ]; then
  finish
fi

if command -v npm >/dev/null 2>&1; then
  scripts/sbom.sh
else
  note "npm is not there: the list of parts is not checked"
fi
