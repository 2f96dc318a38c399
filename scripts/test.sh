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

# pytest STAGE [OPTIONS]; what failed (three at the most) is tried once more, alone: docs/decisions/0080-a-second-try.md
second_tries=""
run_tests() {
  local stage=$1 status=0 failed
  shift
  # Its own memory of failures, empty at the start: an earlier run's would be tried as well.
  local memory=.pytest_cache/$stage
  rm -rf "$memory"
  .venv/bin/pytest -o cache_dir="$memory" "$@" || status=$?
  # 5: none of them there (a part of the tests was asked for)
  [ "$status" != 5 ] || return 0
  [ "$status" = 1 ] || return "$status"
  failed=$(.venv/bin/python -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$memory/v/cache/lastfailed")
  [ "$(wc -l <<<"$failed")" -le 3 ] || return 1
  heading "Once more, alone, what failed"
  .venv/bin/pytest -o cache_dir="$memory" --last-failed --last-failed-no-failures none -vv "$@" -n 0 || return 1
  second_tries="$second_tries$failed"$'\n'
}

heading "Tests"
run_tests side_by_side -n 2 --dist worksteal -m "not real_time and not browser" "$@"

heading "Tests on the wall clock and in the browser"
run_tests one_by_one -m "real_time or browser" -rs "$@"

if [ -x web/node_modules/.bin/vitest ]; then
  heading "Tests of the web UI"
  (cd web && npm test --silent)
fi

if [ -n "$second_tries" ]; then
  heading "Passed only when tried again, alone (each is a defect of the test or of what it tests)"
  printf '%s' "$second_tries"
fi
