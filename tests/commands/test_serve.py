"""``offhook serve`` as a real program: it starts, it is alone on its folder, and it may be killed at any time."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from offhook.kit.database.prepared_cluster import prepared_cluster_path
from tests.commands.conftest import Offhook, Server, descendants, wait_until_gone

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a worker on an empty folder, started as people start it."""
    offhook = Offhook(tmp_path_factory.mktemp("first") / "data")
    try:
        yield offhook.serve(is_bare=True)
    finally:
        offhook.end()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without a worker."""
    offhook = Offhook(tmp_path_factory.mktemp("alone") / "data")
    try:
        yield offhook.serve("--no-worker")
    finally:
        offhook.end()


@pytest.mark.slow
def test_the_first_start_says_what_it_does_and_where_it_is(first: Server) -> None:
    server = first
    is_prepared = prepared_cluster_path().exists()
    assert ("Applying migration 0026: initial schema." in server.output()) is not is_prepared
    assert f"Offhook is ready at {server.url}\n" in server.output()
    assert server.get("/health").status_code == 200
    ready = server.get("/ready").json()
    assert ready["checks"] == {"accepting": "ok", "leases": "ok", "events": "ok"}
    assert ready["dependencies"] == {"database": "ok", "migrations": "ok", "jobs": "ok"}

    signed_in = server.post("/api/v1/auth/link", {"token": server.sign_in_token()})
    assert signed_in.status_code == 200
    assert server.post("/api/v1/auth/link", {"token": server.sign_in_token()}).status_code == 401, "it works once"


@pytest.mark.slow
def test_idle_it_needs_less_than_300_mb_in_all(first: Server) -> None:
    """With its worker at work, after a first start; the database's connections of the start have been closed by then."""
    deadline = time.monotonic() + 60
    while first.get("/ready").json()["dependencies"]["jobs"] != "ok" or needed_mb(first) >= 300:
        assert time.monotonic() < deadline, (needed_mb(first), first.output())
        time.sleep(0.5)


def needed_mb(server: Server) -> float:
    return sum(map(proportional_mb, server.family()))


@pytest.mark.slow
def test_an_orderly_stop_ends_everything(installed: Offhook) -> None:
    server = installed.serve()
    family = server.family()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0, server.output()
    assert wait_until_gone(family) == []
    assert not (installed.data_dir / "server.json").exists()
    assert "Traceback" not in server.output()


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_is_an_orderly_stop_too(installed: Offhook) -> None:
    server = installed.serve("--no-worker")
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0, server.output()
    assert "Traceback" not in server.output()


@pytest.mark.slow
def test_killed_it_takes_worker_and_database_along_and_loses_nothing(installed: Offhook) -> None:
    server = installed.serve()
    token = server.post("/api/v1/auth/link", {"token": server.sign_in_token()}).json()["token"]
    me = server.get("/api/v1/auth/me", authorization=f"Bearer {token}").json()
    family = server.family()
    assert len(family) > 5, "server, worker and database"
    server.process.kill()
    server.process.wait()
    assert wait_until_gone(family) == []

    again = installed.serve("--no-worker")
    assert "Applying migration" not in again.output()
    assert again.get("/api/v1/auth/me", authorization=f"Bearer {token}").json() == me
    assert again.sign_in_token() != server.sign_in_token(), "each start prints a fresh link"


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again(first: Server) -> None:
    killed = worker_of(first.process.pid)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert wait_until_gone([killed]) == []
    deadline = time.monotonic() + 60
    while worker_of(first.process.pid) in {None, killed}:
        assert time.monotonic() < deadline, first.output()
        time.sleep(0.05)


@pytest.mark.slow
def test_a_database_that_dies_is_started_again(installed: Offhook) -> None:
    server = installed.serve("--no-worker")
    os.kill(int((installed.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    deadline = time.monotonic() + 60
    # Not whether all is ready: without a worker, jobs that wait are none of the database's.
    while (
        "database_unreachable" not in server.output() or server.get("/ready").json()["dependencies"]["database"] != "ok"
    ):
        assert time.monotonic() < deadline, server.output()
        time.sleep(0.05)


@pytest.mark.slow
def test_without_a_worker_there_is_none(alone: Server) -> None:
    assert worker_of(alone.process.pid) is None


@pytest.mark.slow
def test_a_second_server_on_the_folder_stops_with_a_sentence_that_names_the_first(alone: Server) -> None:
    second = alone.offhook.run("serve", "--port", "0")
    assert second.returncode == 1
    assert second.stderr == (
        f"offhook: Offhook already runs on the data folder {alone.offhook.data_dir} (process {alone.process.pid} at "
        f"{alone.url}): stop it, or set OFFHOOK_DATA_DIR to another folder.\n"
    )
    assert alone.get("/health").status_code == 200


@pytest.mark.slow
def test_a_port_in_use_is_one_sentence(offhook: Offhook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = offhook.run("serve", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"offhook: Port {port} on 127.0.0.1 cannot be used (Address already in use)")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_other_commands_find_the_running_servers_database(alone: Server) -> None:
    key = alone.offhook.run("keys", "create").stdout.strip()
    answer = alone.get("/api/v1/auth/me", **{"x-api-key": key})
    assert answer.status_code == 200, answer.text


def worker_of(pid: int) -> int | None:
    for child in descendants(pid):
        try:
            process = Path(f"/proc/{child}")
            is_first = (process / "comm").read_text().strip() == "offhook-worker"
            if is_first or (process / "cmdline").read_bytes().endswith(b"\0worker\0"):
                return child
        except OSError:
            continue
    return None


def proportional_mb(pid: int) -> float:
    """Memory of a process, what it shares counted by its share; none of one that has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
