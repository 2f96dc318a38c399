# Shared by the scripts: headings and one clear way to stop.

# Images of Python set it: every process that a script starts would compile all of our modules again.
unset PYTHONDONTWRITEBYTECODE

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
note() { printf '   %s\n' "$*"; }
stop() {
  printf '\nerror: %s\n' "$*" >&2
  exit 1
}
# One hash over the names and contents of files (arguments: files).
fingerprint() { sha256sum "$@" | sha256sum | cut -d' ' -f1; }

# Runs a command beside what follows, until `finish` shows what it printed and fails where it failed. One at a time.
begin() {
  beside_log=$(mktemp)
  "$@" >"$beside_log" 2>&1 &
  beside=$!
  # Ctrl-C does not reach what runs in the background.
  trap 'kill "$beside" 2>/dev/null || true; rm -f "$beside_log"' EXIT
}
finish() {
  local status=0
  tail --quiet --lines=+1 --follow --sleep-interval=0.2 --pid="$beside" "$beside_log"
  wait "$beside" || status=$?
  rm -f "$beside_log"
  trap - EXIT
  return "$status"
}
