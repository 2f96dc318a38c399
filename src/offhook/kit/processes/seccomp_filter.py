"""A filter of system calls for programs that read strangers' files, as classic BPF (``man 2 seccomp``).

What a reader needs is listed, everything else fails with EPERM: sockets, new programs and processes, signals to
others, changes of files by path, tracing, and whatever the kernel learns later. The table has the numbers of x86-64
and of arm64.
"""

import struct
from collections.abc import Sequence
from typing import Final

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_FAIL: Final = 0x00050000
_EPERM, _ENOSYS = 1, 38
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
# Offsets in ``struct seccomp_data``; arguments are 64 bits, little-endian.
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16

# ``os.uname().machine``: the audit architecture, and the column of the tables.
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Name: number on x86-64 and arm64; None where there is no such call.
_Numbers = tuple[int | None, int | None]
ALLOWED: Final[dict[str, _Numbers]] = {
    # files that are open, and looking at files by path
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "stat": (4, None), "fstat": (5, 80), "lstat": (6, None),
    "lseek": (8, 62), "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66),
    "access": (21, None), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "fsync": (74, 82),
    "fdatasync": (75, 83), "ftruncate": (77, 46), "getdents": (78, None), "getcwd": (79, 17),
    "readlink": (89, None), "getdents64": (217, 61), "fadvise64": (221, 223), "newfstatat": (262, 79),
    "readlinkat": (267, 78), "faccessat": (269, 48), "fallocate": (285, 47), "statx": (332, 291),
    "faccessat2": (439, 439), "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
    "mincore": (27, 232), "madvise": (28, 233), "get_mempolicy": (239, 236),
    # threads
    "sched_yield": (24, 124), "gettid": (186, 178), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293),
    "membarrier": (324, 283), "arch_prctl": (158, None), "getcpu": (309, 168),
    # signals of its own
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    # time, itself, the end
    "nanosleep": (35, 101), "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "times": (100, 153), "getpid": (39, 172), "getppid": (110, 173),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getrlimit": (97, 163), "getrusage": (98, 165), "uname": (63, 160), "sysinfo": (99, 179),
    "getrandom": (318, 278), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
OPEN: Final[_Numbers] = (2, None)
OPENAT: Final[_Numbers] = (257, 56)
CLONE: Final[_Numbers] = (56, 220)
CLONE3: Final[_Numbers] = (435, 435)
IOCTL: Final[_Numbers] = (16, 29)
FCNTL: Final[_Numbers] = (72, 25)
PRCTL: Final[_Numbers] = (157, 167)
PRLIMIT64: Final[_Numbers] = (302, 261)
TGKILL: Final[_Numbers] = (234, 131)

# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND: what a program writes was opened for it.
_WRITING: Final = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000
_CLONE_THREAD: Final = 0x10000
# TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX: what Python asks of a file.
_IOCTLS: Final = (0x5401, 0x5413, 0x541B, 0x5451)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; F_SETOWN would send signals.
_FCNTLS: Final = (0, 1, 2, 3, 4, 1030)
# PR_SET_NAME, PR_SET_VMA: threads and memory get names.
_PRCTLS: Final = (15, 0x53564D41)


def build_filter(machine: str, pid: int) -> bytes | None:
    """Returns the filter of a process as an array of ``struct sock_filter``; None for an unknown machine."""
    if machine not in _MACHINES:
        return None
    architecture, column = _MACHINES[machine]
    code = _instruction(_LOAD, _ARCHITECTURE_OFFSET) + _instruction(_IF_EQUAL, architecture, 1, 0)
    code += _instruction(_RETURN, _KILL) + _instruction(_LOAD, _NUMBER_OFFSET)
    for numbers in ALLOWED.values():
        code += _on_call(numbers[column], _instruction(_RETURN, _ALLOW))
    conditions = (
        (OPEN, _unless_bits(1, _WRITING)),
        (OPENAT, _unless_bits(2, _WRITING)),
        (CLONE, _if_bits(0, _CLONE_THREAD)),
        (CLONE3, _instruction(_RETURN, _FAIL | _ENOSYS)),  # its flags cannot be seen: the C library takes clone
        (IOCTL, _if_one_of(1, _IOCTLS)),
        (FCNTL, _if_one_of(1, _FCNTLS)),
        (PRCTL, _if_one_of(0, _PRCTLS)),
        (PRLIMIT64, _if_one_of(0, (0,))),
        (TGKILL, _if_one_of(0, (pid,))),
    )
    for numbers, block in conditions:
        code += _on_call(numbers[column], block)
    return code + _instruction(_RETURN, _FAIL | _EPERM)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _on_call(number: int | None, block: bytes) -> bytes:
    """Returns the block behind a test for the call; it must end with a return."""
    if number is None:
        return b""
    return _instruction(_IF_EQUAL, number, 0, len(block) // 8) + block


def _load_argument(index: int) -> bytes:
    return _instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * index)


def _if_one_of(index: int, values: Sequence[int]) -> bytes:
    tests = b"".join(_instruction(_IF_EQUAL, value, 0, 1) + _instruction(_RETURN, _ALLOW) for value in values)
    return _load_argument(index) + tests + _instruction(_RETURN, _FAIL | _EPERM)


def _if_bits(index: int, mask: int) -> bytes:
    chosen = _instruction(_RETURN, _ALLOW) + _instruction(_RETURN, _FAIL | _EPERM)
    return _load_argument(index) + _instruction(_IF_ANY_BIT, mask, 0, 1) + chosen


def _unless_bits(index: int, mask: int) -> bytes:
    chosen = _instruction(_RETURN, _FAIL | _EPERM) + _instruction(_RETURN, _ALLOW)
    return _load_argument(index) + _instruction(_IF_ANY_BIT, mask, 0, 1) + chosen
