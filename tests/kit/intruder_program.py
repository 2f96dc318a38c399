"""Stands in for a reader that a file has taken over: tries what it must not be able to do, and prints what happened.

    intruder_program.py INPUT OUTPUT KEY_FILE PARENT_ID PORT UNIX_SOCKET INHERITED

Prints ``{attempts: {name: "refused" | what it got}, environment, user}``, having copied INPUT to OUTPUT.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np  # a library with native code and threads of its own

PTRACE_ATTACH = 16


def main() -> None:
    source, target, key, parent, port, unix_socket, inherited = sys.argv[1:]
    attempts: dict[str, Callable[[], object]] = {
        "connect": lambda: socket.create_connection(("127.0.0.1", int(port)), 5),
        "connect to the database's kind of socket": lambda: connect_locally(unix_socket),
        "send a datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 53)),
        "read the key": Path(key).read_text,
        "list the data folder": lambda: list(Path(key).parent.iterdir()),
        "read the parent's environment": Path(f"/proc/{parent}/environ").read_bytes,
        "read the parent's files": lambda: list(Path(f"/proc/{parent}/cwd").iterdir()),
        "read its own environment again": Path("/proc/self/environ").read_bytes,
        "use an inherited descriptor": lambda: os.pread(int(inherited), 10, 0),
        "fork": os.fork,
        "run a shell": lambda: os.execv("/bin/sh", ["sh", "-c", "echo a shell"]),
        "see the parent": lambda: os.kill(int(parent), 0),
        "trace the parent": lambda: trace(int(parent)),
        "change the input": lambda: open_for_writing(source),
        "open the output again": lambda: open_for_writing(f"/proc/self/fd/{target}"),
        "write elsewhere": lambda: open_for_writing(f"{key}.new"),
        "delete the key": Path(key).unlink,
        "read the list of users": Path("/etc/passwd").read_text,
    }
    happened = {name: attempt_deed(attempt) for name, attempt in attempts.items()}
    with os.fdopen(int(target), "wb") as out:
        out.write(Path(source).read_bytes())
    np.linalg.inv(np.eye(200))
    report = {
        "attempts": happened,
        "environment": sorted(os.environ),
        "user": os.getuid(),
    }
    print(json.dumps(report))


def attempt_deed(attempt: Callable[[], object]) -> str:
    try:
        got = attempt()
    except OSError:
        return "refused"
    if got == 0:
        os._exit(0)  # a child of a fork that worked
    return repr(got)


def open_for_writing(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))


def connect_locally(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)


def trace(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_ATTACH, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


main()
