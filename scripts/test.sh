#!/usr/bin/env bash
# All tests: those on virtual time side by side, those that listen to the wall clock one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/bootstrap.sh --dev
scripts/build_web.sh

if ! command -v chromium >/dev/null 2>&1 && ! command -v chromium-browser >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    heading "Chromium for the browser tests"
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium) \
      >/dev/null 2>&1 || note "it could not be installed: the browser tests are skipped"
  else
    note "Chromium is not there: the browser tests are skipped (as root it would be installed)"
  fi
fi

heading "Tests"
.venv/bin/pytest -n 2 --dist worksteal -m "not real_time and not browser" "$@"

heading "Tests on the wall clock and in the browser"
status=0
.venv/bin/pytest -m "real_time or browser" -rs "$@" || status=$?
# 5: none of them there (a part of the tests was asked for)
[ "$status" = 0 ] || [ "$status" = 5 ] || exit "$status"

if [ -x web/node_modules/.bin/vitest ]; then
  heading "Tests of the web UI"
  (cd web && npm test --silent)
fi
