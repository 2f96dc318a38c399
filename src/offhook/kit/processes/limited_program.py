"""Runs one of our programs within limits and without rights, in this process: see ``limited_programs``.

    python -I limited_program.py CPU_SECONDS MEMORY_BYTES FILE_BYTES USER_ID PROGRAM ARGUMENT...

PROGRAM is the path of a file or the name of a module. USER_ID is empty, or the user to become. ARGUMENTs begin with
``=`` for a text; ``<`` for a file to read, of which the program gets a path; ``>`` for a file to write, of which it
gets the number of an open descriptor. One line on the standard error names what the kernel lacks for the sandbox;
then the program runs, whose own errors are not read.
"""

import importlib
import os
import resource
import runpy
import stat
import sys

from offhook.kit.processes.linux_sandbox import enter_sandbox
from offhook.kit.processes.priority import lower_priority

# Calls run on the same cores.
NICENESS = 10
MAX_DESCRIPTORS = 256
# All programs of the readers' user; another user has other processes too.
MAX_PROCESSES = 256


def main() -> None:
    parent = os.getppid()
    cpu_s, memory, written = (int(value) for value in sys.argv[1:4])
    user_id = int(sys.argv[4]) if sys.argv[4] else None
    program = sys.argv[5]
    readable: list[str] = []
    arguments = [_open_argument(argument, user_id, readable) for argument in sys.argv[6:]]
    is_file = program.endswith(".py")
    source = _open_argument(f"<{program}", user_id, readable) if is_file else program
    folders = {path: os.open(path, os.O_RDONLY) for path in sys.path if os.path.exists(path)}  # noqa: PTH110
    silence = os.open(os.devnull, os.O_WRONLY)
    _set_limits(cpu_s, memory, written, user_id)
    if not is_file:
        _import_beforehand(program, user_id, folders)
    gaps = enter_sandbox(user_id, [*readable, *folders])
    if os.getppid() != parent:  # it ended before it could take us along
        sys.exit(1)
    _keep_imports_working(folders)
    sys.stderr.write(f"sandbox:{','.join(gaps)}\n")
    sys.stderr.flush()
    os.dup2(silence, 2)
    os.close(silence)
    sys.dont_write_bytecode = True
    sys.argv = [program, *arguments]
    if is_file:
        runpy.run_path(source, run_name="__main__")
    else:
        runpy.run_module(source, run_name="__main__", alter_sys=True)


def _set_limits(cpu_s: int, memory: int, written: int, user_id: int | None) -> None:
    lower_priority(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_DESCRIPTORS, MAX_DESCRIPTORS))
    if user_id is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))


def _open_argument(argument: str, user_id: int | None, readable: list[str]) -> str:
    """Returns what the program gets for an argument; files are opened while this process still may."""
    kind, value = argument[:1], argument[1:]
    if kind == ">":
        return str(os.open(value, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    if kind == "<":
        descriptor = os.open(value, os.O_RDONLY)
        readable.append(value)
        if user_id is not None:
            _allow_group(descriptor, user_id)
        return f"/proc/self/fd/{descriptor}" if sys.platform == "linux" else value
    return value


def _allow_group(descriptor: int, group_id: int) -> None:
    """Lets the readers' group read a file that not everybody may read; its folder stays closed to them."""
    mode = os.fstat(descriptor).st_mode
    if not mode & stat.S_IROTH:
        os.fchown(descriptor, -1, group_id)
        os.fchmod(descriptor, stat.S_IMODE(mode) | stat.S_IRGRP)


def _import_beforehand(program: str, user_id: int | None, folders: dict[str, int]) -> None:
    """Imports a module of ours, before it gets a stranger's file, if the new user cannot reach where libraries lie.

    Some find their shared libraries by their real path, which open descriptors do not help with. What they import
    while the program runs is reached by :func:`_keep_imports_working`. A thread that began here would stay outside of
    the sandbox: then nothing runs.
    """
    if user_id is None or all(_is_open_to_others(path) for path in folders):
        return
    importlib.import_module(program)
    del sys.modules[program]  # it is found anew to be run, by a path that still works then
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - pathlib costs milliseconds
        sys.stderr.write("a library started a thread while it was imported\n")
        sys.exit(1)


def _is_open_to_others(path: str) -> bool:
    """Returns whether any user may enter every folder down to ``path``."""
    path = os.path.realpath(path)
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH and os.path.isdir(path):  # noqa: PTH112, PTH116
            return False
        path = os.path.dirname(path)  # noqa: PTH120
    return True


def _keep_imports_working(folders: dict[str, int]) -> None:
    """Imports through open descriptors what lies in a folder that this user cannot reach, such as root's home."""
    reached = {}
    for path, descriptor in folders.items():
        if os.access(path, os.R_OK):
            os.close(descriptor)
        else:
            reached[path] = f"/proc/self/fd/{descriptor}"
    if not reached:
        return
    sys.path[:] = [reached.get(path, path) for path in sys.path]
    for module in list(sys.modules.values()):
        places = getattr(module, "__path__", None)
        if isinstance(places, list):
            places[:] = [_move_path(place, reached) for place in places]


def _move_path(place: str, reached: dict[str, str]) -> str:
    for path in sorted(reached, key=len, reverse=True):
        if place.startswith(f"{path}/"):
            return reached[path] + place[len(path) :]
    return place


main()
