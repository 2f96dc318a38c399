#!/usr/bin/env bash
# Resolves pyproject.toml anew into the locks: newest versions, hashes, no names of hosts.
#
#   scripts/make_locks.sh            everything to its newest version
#   scripts/make_locks.sh NAME...    only these packages to their newest version
#
# requirements-data.lock is written by hand: it names wheels of which only data files are used and which are never
# imported (silero-vad would bring PyTorch). `pip download --no-deps NAME==VERSION && pip hash FILE` gives its line.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

upgrade=(--upgrade)
if [ $# -gt 0 ]; then
  upgrade=()
  for name in "$@"; do upgrade+=(--upgrade-package "$name"); done
fi
common=(pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
  --no-emit-index-url --no-emit-find-links --quiet "${upgrade[@]}")

scripts/bootstrap.sh --dev
heading "Locks"
UV_PYTHON_DOWNLOADS=never .venv/bin/uv "${common[@]}" pyproject.toml -o requirements.lock
UV_PYTHON_DOWNLOADS=never .venv/bin/uv "${common[@]}" pyproject.toml --group dev -o requirements-dev.lock
UV_PYTHON_DOWNLOADS=never .venv/bin/uv "${common[@]}" - -o requirements-uv.lock <<<uv
if grep -nE '://' requirements*.lock; then stop "a lock names a host"; fi
if grep -nE '^(torch|nvidia-)' requirements.lock requirements-dev.lock; then stop "PyTorch came in"; fi
note "done: run .ci/run, then commit the locks"
