#!/usr/bin/env bash
# Builds web/ into src/offhook/_ui, and does nothing when its sources have not changed.
#
#   scripts/build_web.sh            install what is missing and build
#   scripts/build_web.sh --install  only install
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

if [ ! -f web/package.json ]; then
  note "web/ is not there: no web UI to build"
  exit 0
fi
if ! command -v npm >/dev/null 2>&1 || ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then
  note "Node.js 20 or newer with npm is not there: the web UI is not built, the API works without it"
  exit 0
fi

packages_stamp=web/node_modules/.offhook-stamp
packages=$(fingerprint web/package.json web/package-lock.json)
if [ "$(cat "$packages_stamp" 2>/dev/null)" != "$packages" ]; then
  heading "Web packages"
  (cd web && npm ci --no-audit --no-fund --loglevel=error)
  printf '%s' "$packages" >"$packages_stamp"
fi
[ "${1:-}" = "--install" ] && exit 0

ui_stamp=src/offhook/_ui/.offhook-stamp
mapfile -d '' sources < <(find web -path web/node_modules -prune -o -type f ! -name '*.tsbuildinfo' -print0 | sort -z)
wanted=$(fingerprint "${sources[@]}")
if [ "$(cat "$ui_stamp" 2>/dev/null)" != "$wanted" ]; then
  heading "Web UI"
  (cd web && npm run --silent build)
  printf '%s' "$wanted" >"$ui_stamp"
fi
