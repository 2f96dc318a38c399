"""Several processes on one database: they are listed, and one with another key does not start."""

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import text

from offhook.kit.database.database import Database
from offhook.nodes.superuser_queries import WaitingRecordings, write_spool
from tests.commands.conftest import Offhook
from tests.databases import create_database, drop_database

KEY, OTHER_KEY = "k" * 40, "x" * 40


@pytest.fixture
def offhook(tmp_path: Path, database_url: str) -> Iterator[Offhook]:
    made = Offhook(tmp_path / "data", OFFHOOK_DATABASE_URL=database_url, OFFHOOK_SECRET_KEY=KEY)
    yield made
    made.end()


def wait_on_a_machine_that_is_gone(database_url: str) -> None:
    async def write() -> None:
        db = Database(database_url)
        at = datetime(2026, 11, 20, 12, tzinfo=UTC)
        async with db.transaction() as session:
            waiting = WaitingRecordings(2, 3_500_000, at, "The bucket does not exist.", at)
            await write_spool(session, "gone", node_id="n-gone", place="a:/data", waiting=waiting)
        await db.dispose()

    asyncio.run(write())


def test_a_server_is_listed_and_another_key_starts_nothing(offhook: Offhook, database_url: str) -> None:
    assert offhook.run("nodes").stdout == "No process is running.\n"
    server = offhook.serve("--no-worker")
    listed: list[str] = []
    while not listed:
        listed = offhook.run("nodes", "--json").stdout.splitlines()
    (node,) = map(json.loads, listed)
    assert (node["kind"], node["state"], node["address"]) == ("serve", "up", server.url)
    assert "serve  up  0 of 120 calls" in offhook.run("nodes").stdout

    wait_on_a_machine_that_is_gone(database_url)
    *_, spool = map(json.loads, offhook.run("nodes", "--json").stdout.splitlines())
    assert (spool["kind"], spool["files"], spool["is_tried"]) == ("waiting_recordings", 2, False)
    waiting = "waiting recordings: 2  3.5 MB  since 2026-11-20 12:00 UTC  no process there since"
    assert waiting in offhook.run("nodes").stdout

    elsewhere = {"OFFHOOK_DATA_DIR": str(offhook.data_dir) + "-other", "OFFHOOK_SECRET_KEY": OTHER_KEY}
    refused = offhook.run("serve", "--port", "0", **elsewhere)
    assert refused.returncode == 1
    last = refused.stderr.splitlines()[-1]
    assert last.startswith("offhook: This process has a different secret key than its database")
    assert offhook.run("keys", "adopt", **elsewhere).stdout.startswith("This secret key is the installation's now")
    assert offhook.run("keys", "adopt", **elsewhere).stdout == "This secret key is the installation's already.\n"


def test_a_process_with_another_storage_starts_nothing(offhook: Offhook, tmp_path: Path) -> None:
    """Its recordings would be where no other process looks for them, and it would delete none of theirs."""
    offhook.serve("--no-worker")
    shared = {"OFFHOOK_STORAGE_URL": f"file://{tmp_path}/shared"}
    (tmp_path / "shared").mkdir()
    for command in (("worker",), ("privacy", "erase", "+12125550100", "--yes"), ("encryption", "apply")):
        refused = offhook.run(*command, **shared)
        assert (refused.returncode, refused.stdout) == (1, "")
        last = refused.stderr.splitlines()[-1]
        assert f"offhook: This process keeps files in file://{tmp_path}/shared, but those of its database" in last
        assert last.endswith("run `offhook storage adopt` with the new setting.")
    report = json.loads(offhook.run("doctor", "--json", **shared | {"OFFHOOK_SECRET_KEY": OTHER_KEY}).stdout)
    found = {check["name"]: check for check in report["checks"]}["installation"]
    assert (found["status"], found["detail"][:39]) == ("failed", "This process has a different secret key")
    (tmp_path / "shared" / "installation").write_text("another one\n")
    taken = offhook.run("storage", "adopt", **shared)
    assert (taken.returncode, taken.stdout) == (1, "")
    assert taken.stderr.startswith("offhook: The bucket in OFFHOOK_STORAGE_URL has the files of another installation")
    assert offhook.run("storage", "adopt", "--take-over", **shared).stdout.startswith(
        f"Files are in file://{tmp_path}/shared from now"
    )
    assert offhook.run("storage", "adopt", **shared).stdout == f"Files are in file://{tmp_path}/shared already.\n"


@pytest.mark.slow
def test_a_worker_answers_monitors_and_knows_the_room(offhook: Offhook) -> None:
    offhook.serve("--no-worker")
    offhook.environment |= {"OFFHOOK_WORKER_METRICS_PORT": "0", "OFFHOOK_LOG_FORMAT": "json"}
    worker = offhook.start("worker")
    page = ""
    while "offhook_cluster_places 120.0" not in page:
        assert worker.poll() is None, offhook.output(1)
        lines = [json.loads(line) for line in offhook.output(1).splitlines(keepends=True) if line.endswith("\n")]
        if served := [line for line in lines if line["event"] == "metrics_served"]:
            page = httpx2.get(f"http://127.0.0.1:{served[0]['port']}/metrics", timeout=60).text
            assert served[0]["node"]
        time.sleep(0.05)
    assert "offhook_queued_jobs" in page
    worker.terminate()
    assert worker.wait() == 0


@pytest.mark.slow
def test_a_user_who_may_not_create_pgvector_gets_a_sentence(tmp_path: Path, pg_url: str) -> None:
    name = f"plain_{uuid.uuid4().hex}"

    async def make_plain_database() -> str:
        owner = Database(await create_database(pg_url, name, template="template0"))
        async with owner.engine.begin() as connection:
            await connection.execute(text(f"CREATE ROLE {name}"))
            await connection.execute(text(f"ALTER DATABASE {name} OWNER TO {name}"))
            await connection.execute(text(f"ALTER DATABASE {name} SET role = '{name}'"))
        await owner.dispose()
        return owner.url.replace("+asyncpg", "")

    offhook = Offhook(tmp_path / "data", OFFHOOK_DATABASE_URL=asyncio.run(make_plain_database()))
    refused = offhook.run("migrate")
    asyncio.run(drop_database(pg_url, name))
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        "offhook: The database user is not allowed to create the extension pgvector: let a superuser run"
    )
    assert refused.stderr.count("\n") == 1
