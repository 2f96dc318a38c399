"""Events become partitions in a database with rows, while processes of the older version read and write them."""

import asyncio
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from tests.kit.older_versions import before, connect, upgrade

RUNS = 40
SEED = """
SET session_replication_role = replica;
INSERT INTO organizations (id, name) VALUES (1, 'Acme');
INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, created_at)
SELECT 1, 1, 1, 1, 'call', 'twilio', 'inbound', now() - number * interval '1 day' FROM generate_series(1, {runs}) AS number;
INSERT INTO run_events (run_id, seq, organization_id, type, at_ms)
SELECT id, number, 1, 'caller_said', number FROM runs, generate_series(1, 5) AS number;
"""
# As the older version says it, word for word: its statements stay prepared.
INSERT = """
INSERT INTO run_events (run_id, seq, organization_id, type, at_ms, data, created_at, key_number, sealed)
SELECT $1, coalesce((SELECT max(seq) FROM run_events x WHERE x.run_id = $1), 0) + 1, 1, 'agent_said', 0, '{}', now(), NULL, NULL
"""
READ = "SELECT seq, type, at_ms, data, created_at FROM run_events WHERE run_id = $1 ORDER BY seq"


@pytest.fixture
async def older(empty_database: Database, tmp_path: Path) -> Database:
    """A database of the version before, with calls."""
    await migrations.upgrade_database(empty_database, lambda _: None, before(tmp_path / "older", "0033"))
    connection = await connect(empty_database)
    await connection.execute(SEED.format(runs=RUNS))
    await connection.close()
    return empty_database


async def read_all(database: Database) -> list[tuple[int, int, str]]:
    async with database.transaction() as session:
        rows = await session.execute(text("SELECT run_id, seq, type FROM run_events ORDER BY 1, 2"))
        return [tuple(row) for row in rows]


async def test_the_rows_stay_where_they_are(older: Database) -> None:
    rows = await read_all(older)
    async with older.transaction() as session:
        file = await session.scalar(text("SELECT pg_relation_filenode('run_events')"))
    await upgrade(older)
    assert await read_all(older) == rows
    async with older.transaction() as session:
        kept = await session.scalar(text("SELECT pg_relation_filenode('run_events_from_0')"))
        beyond = await session.scalar(text("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'ck_run_events%'"))
        deleted = await session.execute(text("DELETE FROM runs WHERE id <= 10"))
    assert kept == file, "no row was written again"
    assert beyond == 0
    assert deleted.rowcount == 10  # type: ignore[attr-defined]
    assert await read_all(older) == [row for row in rows if row[0] > 10]


async def test_older_processes_read_and_write_on(older: Database) -> None:
    """Their connections, transactions and prepared statements are from before the migration."""
    run_id, written = 7, 0
    is_done = asyncio.Event()

    async def talk() -> int:
        count = 0
        connection = await connect(older)
        insert, read = await connection.prepare(INSERT), await connection.prepare(READ)
        while not is_done.is_set() or count < 50:
            async with connection.transaction():
                await insert.fetch(run_id)
                await connection.execute("UPDATE runs SET note = 'talked' WHERE id = $1", run_id)
            count += 1
            assert [row["seq"] for row in await read.fetch(run_id)] == list(range(1, 5 + count + 1))
        await connection.close()
        return count

    talking = asyncio.create_task(talk())
    await upgrade(older)
    is_done.set()
    written = await talking
    assert len([row for row in await read_all(older) if row[0] == run_id]) == 5 + written
    assert await migrations.is_current(older)
    connection = await connect(older)
    again = "INSERT INTO run_events (run_id, seq, organization_id, type, at_ms) VALUES (7, 1, 1, 'x', 0)"
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute(again)
    await connection.close()


async def test_an_interrupted_migration_is_gone_on_with(older: Database) -> None:
    """Its first step is committed by itself; the end that it has set stays the end."""
    connection = await connect(older)
    await connection.execute(
        "ALTER TABLE run_events ADD CONSTRAINT ck_run_events_from_0_end CHECK (run_id < 230000) NOT VALID"
    )
    await connection.close()
    await upgrade(older)
    async with older.transaction() as session:
        bounds = await session.scalar(
            text("SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'run_events_from_0'")
        )
    assert bounds == "FOR VALUES FROM (MINVALUE) TO ('230000')"


async def test_the_first_partition_has_room_for_as_many_runs_as_a_month_had(older: Database) -> None:
    async with older.transaction() as session:
        await session.execute(text("SELECT setval('runs_id_seq', 234567)"))
        await session.execute(text("UPDATE runs SET created_at = now() - interval '60 days' WHERE id <= 20"))
        await session.execute(text("UPDATE runs SET created_at = now() - interval '2 days' WHERE id > 20"))
    await upgrade(older)
    async with older.transaction() as session:
        names = await session.scalars(
            text("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'run_events'::regclass ORDER BY 1")
        )
    assert list(names) == [
        "run_events_default",
        "run_events_from_0",
        "run_events_from_480000",
        "run_events_from_720000",
    ]
