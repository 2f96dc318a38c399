"""``offhook serve`` as a real program: it starts, it is alone on its folder, and it may be killed at any time."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.commands.conftest import Offhook, descendants, wait_until_gone

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")


def test_the_first_start_says_what_it_does_and_where_it_is(offhook: Offhook) -> None:
    server = offhook.serve()
    assert "Applying migration 0001: initial schema." in server.output()
    assert f"Offhook is ready at {server.url}\n" in server.output()
    assert server.get("/health").status_code == 200
    assert server.get("/ready").json()["checks"] == {"database": "ok", "migrations": "ok", "jobs": "ok"}

    signed_in = server.post("/api/v1/auth/link", {"token": server.sign_in_token()})
    assert signed_in.status_code == 200
    assert server.post("/api/v1/auth/link", {"token": server.sign_in_token()}).status_code == 401, "it works once"


def test_an_orderly_stop_ends_everything(offhook: Offhook) -> None:
    server = offhook.serve()
    family = server.family()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0, server.output()
    assert wait_until_gone(family) == []
    assert not (offhook.data_dir / "server.json").exists()
    assert "Traceback" not in server.output()


def test_ctrl_c_in_a_terminal_is_an_orderly_stop_too(offhook: Offhook) -> None:
    server = offhook.serve()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0, server.output()
    assert "Traceback" not in server.output()


def test_killed_it_takes_worker_and_database_along_and_loses_nothing(offhook: Offhook) -> None:
    server = offhook.serve()
    token = server.post("/api/v1/auth/link", {"token": server.sign_in_token()}).json()["token"]
    me = server.get("/api/v1/auth/me", authorization=f"Bearer {token}").json()
    family = server.family()
    assert len(family) > 5, "server, worker and database"
    server.process.kill()
    server.process.wait()
    assert wait_until_gone(family) == []

    again = offhook.serve()
    assert "Applying migration" not in again.output()
    assert again.get("/api/v1/auth/me", authorization=f"Bearer {token}").json() == me
    assert again.sign_in_token() != server.sign_in_token(), "each start prints a fresh link"
    assert again.ready_after_s < 10, "an existing folder starts quickly, also on a busy machine"


def test_a_worker_that_dies_is_started_again(offhook: Offhook) -> None:
    server = offhook.serve()
    first = worker_of(server.process.pid)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert wait_until_gone([first]) == []
    for _ in range(200):
        second = worker_of(server.process.pid)
        if second not in {None, first}:
            return
        time.sleep(0.05)
    pytest.fail(server.output())


def test_a_database_that_dies_is_started_again(offhook: Offhook) -> None:
    server = offhook.serve("--no-worker")
    os.kill(int((offhook.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    deadline = time.monotonic() + 20
    time.sleep(0.5)
    while server.get("/ready").status_code != 200:
        assert time.monotonic() < deadline, server.output()
        time.sleep(0.1)
    assert "database_unreachable" in server.output()


def test_without_a_worker_there_is_none(offhook: Offhook) -> None:
    server = offhook.serve("--no-worker")
    assert worker_of(server.process.pid) is None


def test_a_second_server_on_the_folder_stops_with_a_sentence_that_names_the_first(offhook: Offhook) -> None:
    server = offhook.serve("--no-worker")
    second = offhook.run("serve", "--port", "0")
    assert second.returncode == 1
    assert second.stderr == (
        f"offhook: Offhook already runs on the data folder {offhook.data_dir} (process {server.process.pid} at "
        f"{server.url}): stop it, or set OFFHOOK_DATA_DIR to another folder.\n"
    )
    assert server.get("/health").status_code == 200


def test_a_port_in_use_is_one_sentence(offhook: Offhook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = offhook.run("serve", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"offhook: Port {port} on 127.0.0.1 cannot be used (Address already in use)")
    assert done.stderr.count("\n") == 1


def test_other_commands_find_the_running_servers_database(offhook: Offhook) -> None:
    server = offhook.serve("--no-worker")
    key = offhook.run("keys", "create").stdout.strip()
    answer = server.get("/api/v1/auth/me", **{"x-api-key": key})
    assert answer.status_code == 200, answer.text


def test_idle_it_needs_less_than_300_mb_in_all(offhook: Offhook) -> None:
    server = offhook.serve()
    server.get("/ready")
    assert sum(map(proportional_mb, server.family())) < 300


def worker_of(pid: int) -> int | None:
    for child in descendants(pid):
        try:
            if Path(f"/proc/{child}/cmdline").read_bytes().endswith(b"\0worker\0"):
                return child
        except OSError:
            continue
    return None


def proportional_mb(pid: int) -> float:
    """Memory of a process, what it shares counted by its share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
