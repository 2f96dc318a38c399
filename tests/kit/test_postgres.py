"""The embedded PostgreSQL: starts fast, dies with its owner, loses nothing."""

import asyncio
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from offhook.kit.database.embedded_postgres import NICENESS, EmbeddedPostgres
from offhook.kit.database.postgres_program import SERVER_USER, PostgresError
from offhook.kit.processes.child_process import is_running
from offhook.root import Root

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")

OWNER = """
import asyncio, sys, time
from pathlib import Path
import asyncpg, structlog
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
server = EmbeddedPostgres(Path(sys.argv[1]))
url = server.start().replace("+asyncpg", "")

async def write():
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE IF NOT EXISTS kept (id int)")
    await connection.execute("INSERT INTO kept VALUES (1)")
    await connection.close()

asyncio.run(write())
print(server.pid, flush=True)
time.sleep(60)
"""


def rows(url: str) -> int:
    async def count() -> int:
        connection = await asyncpg.connect(url.replace("+asyncpg", ""))
        try:
            number: int = await connection.fetchval("SELECT count(*) FROM kept")
            return number
        finally:
            await connection.close()

    return asyncio.run(count())


async def write_row(url: str) -> None:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute("CREATE TABLE kept (id int)")
    await connection.execute("INSERT INTO kept VALUES (1)")
    await connection.close()


def read_as(user: str, path: str) -> bytes:
    group = pwd.getpwnam(user).pw_gid
    return subprocess.run(
        ["cat", path], user=user, group=group, extra_groups=[], check=False, capture_output=True
    ).stdout


@pytest.mark.slow
def test_the_server_yields_to_the_process_that_carries_calls(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    try:
        server.start()
        pid = int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0])
        assert os.getpriority(os.PRIO_PROCESS, pid) == NICENESS > os.getpriority(os.PRIO_PROCESS, 0)
    finally:
        server.stop()


@pytest.mark.slow
def test_a_killed_owner_takes_the_server_down_cleanly_and_loses_nothing(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    server_pid = int(owner.stdout.readline())
    assert is_running(server_pid)

    owner.kill()
    owner.wait()
    deadline = time.monotonic() + 10
    while is_running(server_pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(server_pid)
    assert not (tmp_path / "postgres" / "postmaster.pid").exists(), "it was shut down, not killed"

    again = EmbeddedPostgres(tmp_path)
    try:
        assert rows(again.start()) == 1
    finally:
        again.stop()


@pytest.mark.slow
def test_the_next_start_waits_for_a_server_that_is_still_going_down(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    owner.stdout.readline()
    owner.kill()
    again = EmbeddedPostgres(tmp_path)
    try:
        assert rows(again.start()) == 1
    finally:
        again.stop()
        owner.wait()


@pytest.mark.slow
def test_a_pid_file_of_a_machine_that_lost_power_does_not_stop_the_start(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    server.start()
    pid_file = tmp_path / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    server.stop()
    # the same process id belongs to somebody else after a restart of the machine
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    try:
        server.start()
        assert server.pid != os.getpid()
    finally:
        server.stop()


@pytest.mark.slow
def test_an_initdb_that_was_killed_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    half = tmp_path / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18")
    server = EmbeddedPostgres(tmp_path, durable=False)
    try:
        server.start()
        assert not half.exists()
    finally:
        server.stop()


@pytest.mark.slow
def test_a_path_too_long_for_a_socket_is_fine(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / ("a-long-name" * 10), durable=False)
    try:
        assert len(server.start().partition("host=")[2]) < 100
    finally:
        server.stop()


@pytest.mark.slow
def test_the_socket_is_private_and_its_address_is_the_same_after_a_restart(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    first = server.start()
    folder = Path(first.partition("host=")[2])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    server.stop()
    try:
        assert server.start() == first
    finally:
        server.stop()


@pytest.mark.slow
def test_a_copied_folder_leaves_the_address_of_its_original_alone(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / ("original" * 15), durable=False)
    sockets = Path(server.start().partition("host=")[2])
    try:
        subprocess.run(["cp", "-a", server.folder, tmp_path / ("copy" * 30)], check=True)
        copy = EmbeddedPostgres(tmp_path / ("copy" * 30), durable=False)
        try:
            assert copy.start() != server.url
        finally:
            copy.stop()
        assert sockets.is_dir()
    finally:
        server.stop()


def test_a_cluster_of_another_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir()
    (cluster / "PG_VERSION").write_text("15\n")
    with pytest.raises(PostgresError, match="created by PostgreSQL 15, and this is 18"):
        EmbeddedPostgres(tmp_path).start()


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    server.start()
    server.stop()
    (tmp_path / "postgres" / "postgresql.auto.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(PostgresError, match="stopped at start"):
        server.start()


@needs_root
@pytest.mark.slow
def test_as_root_the_server_runs_as_another_user_and_parents_stay_closed(tmp_path: Path) -> None:
    private = tmp_path / "home"
    private.mkdir(mode=0o700)
    server = EmbeddedPostgres(private / "data", durable=False)
    try:
        server.start()
        assert Path(f"/proc/{server.pid}").stat().st_uid != 0
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        assert private.stat().st_uid == 0
    finally:
        server.stop()


@pytest.mark.slow
@needs_root
def test_another_user_cannot_reach_the_socket(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    socket = f"{server.start().partition('host=')[2]}/.s.PGSQL.5432"
    try:
        reached = {
            user: subprocess.run(["test", "-S", socket], user=user, check=False).returncode == 0
            for user in (SERVER_USER, "nobody")
        }
        assert reached == {SERVER_USER: True, "nobody": False}
    finally:
        server.stop()


@pytest.mark.slow
@needs_root
def test_programs_of_nobody_cannot_read_the_files_through_the_server_process(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    server.start()
    try:
        assert read_as("nobody", f"/proc/{server.pid}/cwd/PG_VERSION") == b""
        assert read_as(SERVER_USER, f"/proc/{server.pid}/cwd/PG_VERSION") == b"18\n"
    finally:
        server.stop()


@pytest.mark.slow
@needs_root
def test_a_cluster_of_nobody_is_handed_over_with_its_rows(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path)
    server.start()
    asyncio.run(write_row(server.url))
    server.stop()
    nobody = pwd.getpwnam("nobody")
    outside = tmp_path / "outside"
    outside.touch()
    for path in [server.cluster, *server.cluster.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    (server.cluster / "link").symlink_to(outside)
    try:
        assert rows(server.start()) == 1
        owner = pwd.getpwnam(SERVER_USER).pw_uid
        kept = {path.name for path in server.cluster.rglob("*") if path.lstat().st_uid != owner}
        assert kept == {"link"}, "what nobody did not own is not given away"
        assert outside.stat().st_uid == 0
    finally:
        server.stop()


async def test_a_test_database_has_the_schema_and_no_rows(root: Root) -> None:
    async with root.db.transaction() as session:
        assert (await session.execute(text("SELECT count(*) FROM organizations"))).scalar_one() == 0


@pytest.mark.slow
def test_stop_ends_the_server_in_order(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, durable=False)
    server.start()
    pid = server.pid
    assert pid is not None
    server.stop()
    assert not is_running(pid)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
