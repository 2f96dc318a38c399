"""Permanently drops the privileges of this process: see ``limited_programs``.

Uses nothing but ctypes, so that a program which needs two libraries has only two libraries in memory.
"""

import ctypes
import os
import signal
import struct
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from offhook.kit.processes.seccomp_filter import build_filter

# What a kernel or a container may lack, as reported to the parent.
USER: Final = "user"
LANDLOCK: Final = "landlock"
SECCOMP: Final = "seccomp"

_libc: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_LANDLOCK_VERSION_FLAG, _RULE_PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Number of rights over files by version of Landlock; later versions have no more.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_LATEST_FILE_RIGHTS: Final = 16
# From the version on: binding and connecting TCP; abstract sockets and signals to processes outside.
_NETWORK_VERSION, _SCOPES_VERSION = 4, 6
# Shared libraries, for imports.
_LIBRARIES: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")


def enter_sandbox(user_id: int | None, readable: Iterable[str]) -> list[str]:
    """Leaves the process without network, new programs and other files than ``readable`` and shared libraries.

    ``user_id``: the user and group to become, for root.
    The process ends with its parent from here on. Returns what could not be had: USER, LANDLOCK, SECCOMP.
    """
    if sys.platform != "linux":
        return [LANDLOCK, SECCOMP]
    gaps = []
    ruleset = _create_ruleset([*readable, *_LIBRARIES])
    if user_id is not None and not _become(user_id):
        gaps.append(USER)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # after the user, whose change forgets it
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_DUMPABLE, 0)  # readers of one user cannot look into each other
    if ruleset is None or _syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
        gaps.append(LANDLOCK)
    if ruleset is not None:
        os.close(ruleset)
    if not _install_filter():
        gaps.append(SECCOMP)
    return gaps


def _become(user_id: int) -> bool:
    try:
        os.setgroups([])
        os.setresgid(user_id, user_id, user_id)
        os.setresuid(user_id, user_id, user_id)
    except OSError:  # a container without the capability or the number
        return False
    return True


def _create_ruleset(readable: Sequence[str]) -> int | None:
    """Returns the descriptor of rules that allow reading these paths; None without Landlock."""
    version = _syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)
    if version < 1:
        return None
    rights = struct.pack("<Q", (1 << _FILE_RIGHTS.get(version, _LATEST_FILE_RIGHTS)) - 1)
    if version >= _NETWORK_VERSION:
        rights += struct.pack("<Q", 0b11)
    if version >= _SCOPES_VERSION:
        rights += struct.pack("<Q", 0b11)
    ruleset = _syscall(_LANDLOCK_CREATE_RULESET, rights, len(rights), 0)
    if ruleset < 0:
        return None
    for path in readable:
        _allow_reading(ruleset, path)
    return ruleset


def _allow_reading(ruleset: int, path: str) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # there is no such folder here
        return
    rights = _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE  # noqa: PTH112 - pathlib costs milliseconds
    _syscall(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("<Qi", rights, descriptor), 0)
    os.close(descriptor)


class _FilterProgram(ctypes.Structure):
    """``struct sock_fprog``: the number of instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _install_filter() -> bool:
    code = build_filter(os.uname().machine, os.getpid())
    if code is None:
        return False
    program = _FilterProgram(len(code) // 8, code)
    return int(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)) == 0


def _prctl(option: int, value: int) -> None:
    _libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *values))
