#!/usr/bin/env bash
# The tests, after installing what they need.
#
#   scripts/test.sh [pytest options]         `make test`: all but the slow ones
#   scripts/test.sh --slow [pytest options]  what `make test-all` runs besides: long storms, sweeps, 2,000 seeds
#   scripts/test.sh --all [pytest options]   both
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

selection="not slow"
case "${1:-}" in
--slow)
  selection="slow"
  shift
  ;;
--all)
  selection="slow or not slow"
  shift
  ;;
esac

scripts/bootstrap.sh --dev
scripts/build_web.sh

# From Debian: a browser, and recordings of people for the offline ears.
missing=()
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
  command -v google-chrome >/dev/null 2>&1 || missing+=(chromium)
[ -d /usr/share/pocketsphinx/test/data ] || missing+=(pocketsphinx-testdata)
# The proxies judge the files of deploy/; transactions go through PgBouncer.
if [ "$selection" != "not slow" ]; then
  [ -x /usr/sbin/haproxy ] || missing+=(haproxy)
  [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
  [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    heading "Debian packages for tests: ${missing[*]}"
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}") \
      >/dev/null 2>&1 || note "they could not be installed: the tests that need them are skipped"
  else
    note "Tests that need ${missing[*]} are skipped; as root: apt-get install ${missing[*]}"
  fi
fi

run_pytest() {
  local status=0
  .venv/bin/pytest "$@" || status=$?
  # 5: the caller asked for a part of the tests, and none of them is in this group
  [ "$status" = 0 ] || [ "$status" = 5 ] || exit "$status"
}

SECONDS=0

# One more than there are cores: some of them wait, for a database or a process of their own. Each reads all tests first.
virtual=(-n "$(($(nproc) + 1))" --dist worksteal -m "($selection) and not real_time and not browser" -rs)
if [ $# = 0 ]; then
  # Beside those below, which wait for forms, for pages and for what people say. Those go first; these have the rest of
  # the CPU, and a fifth while nobody waits: with less than that a long one would not end within its limit.
  begin nice -n 5 .venv/bin/pytest "${virtual[@]}"
else
  heading "Tests on virtual time"
  run_pytest "${virtual[@]}" "$@"
fi

if [ "$selection" != slow ] && [ $# = 0 ] && [ -x web/node_modules/.bin/vitest ]; then
  heading "Tests of the web UI"
  (cd web && npm test --silent)
fi

heading "Tests on the wall clock and in the browser"
# Only their files: each process would read all the others for 15 seconds.
# The longest first: a process takes file after file, and would be alone with what begins last.
timed=()
longest=(tests/calls/test_{real_time,carriers}.py tests/web/test_{screens,builder,screens_lists,people}.py tests/models/test_builtin_stt.py)
for argument in "$@"; do [ ! -e "${argument%%::*}" ] || named=yes; done
if [ -z "${named:-}" ]; then
  mapfile -t timed < <(printf '%s\n' "${longest[@]}" && grep -rlE 'mark\.(real_time|browser)\b|in_a_browser\(' tests --include='test_*.py')
fi
# They wait for what people say and for pages. Each runs a server and a browser of its own, so few of them are quicker than many:
# with more of them requests of a slow machine take ten seconds, and callers hang up.
run_pytest -n "$(($(nproc) + 1))" --dist loadfile --no-loadscope-reorder -m "($selection) and (real_time or browser)" \
  -rs "$@" "${timed[@]}"

if [ $# = 0 ]; then
  heading "Tests on virtual time"
  finish
fi

heading "All of them passed, in $((SECONDS / 60)) min $((SECONDS % 60)) s"
