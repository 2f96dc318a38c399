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
