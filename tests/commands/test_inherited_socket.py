"""A socket that a supervisor holds: what is asked between two processes waits for the second one."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from offhook.kit.http import server
from offhook.kit.http.server import PortInUse, listening_socket

# As systemd does it: the socket is descriptor 3, and the environment says for which process.
SERVE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": sys.argv[2] or str(os.getpid()), "LISTEN_FDS": sys.argv[3]}
os.execv(sys.executable, [sys.executable, "-c", sys.argv[4]])
"""
ANSWER = """
import os
from offhook.kit.http.server import listening_socket
with listening_socket("127.0.0.1", 0) as listening:
    print(listening.getsockname()[1], os.get_inheritable(listening.fileno()), "LISTEN_FDS" in os.environ)
    listening.settimeout(10)
    accepted, _ = listening.accept()
    with accepted:
        accepted.sendall(b"answered")
"""


@pytest.fixture
def held() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def start(held: socket.socket, program: str, *, pid: str = "", count: str = "1") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SERVE, str(held.fileno()), pid, count, program],
        pass_fds=(held.fileno(),),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_was_asked_before_the_start_is_answered(held: socket.socket) -> None:
    with socket.create_connection(held.getsockname(), timeout=30) as asks:
        with start(held, ANSWER) as process:
            output, errors = process.communicate(timeout=30)
        assert (output, errors) == (f"{held.getsockname()[1]} False False\n", "")
        assert asks.recv(20) == b"answered"


@pytest.mark.parametrize(("pid", "count"), [("1", "1"), ("", "0")])
def test_a_socket_of_another_process_is_left_alone(held: socket.socket, pid: str, count: str) -> None:
    program = ANSWER.partition("    listening.settimeout")[0]
    with start(held, program, pid=pid, count=count) as process:
        output, errors = process.communicate(timeout=30)
    assert errors == ""
    assert int(output.split()[0]) not in (0, held.getsockname()[1])


@pytest.mark.parametrize(
    ("kind", "count", "words"),
    [("pipe", "1", "not a socket"), ("udp", "1", "did not pass a listening TCP socket"), ("udp", "2", "2 sockets")],
)
def test_what_is_no_address_of_ours_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, kind: str, count: str, words: str
) -> None:
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", count)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, Path(os.devnull).open() as file:
        passed = os.dup(datagrams.fileno() if kind == "udp" else file.fileno())
        monkeypatch.setattr(server, "FIRST_INHERITED", passed)
        with pytest.raises(PortInUse, match=words), listening_socket("127.0.0.1", 0):
            pass
        if kind == "pipe" or count == "2":
            os.close(passed)
