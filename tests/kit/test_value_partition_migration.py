"""The values of runs become partitions in a database with rows, while processes of the older version write and filter them."""

import asyncio
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from tests.kit.older_versions import before, connect, upgrade

RUNS = 40
SEED = f"""
INSERT INTO organizations (id, name) VALUES (1, 'Acme');
INSERT INTO workflows (id, organization_id, name) VALUES (1, 1, 'Desk');
INSERT INTO workflow_versions (id, workflow_id, organization_id, version_number, status, definition)
VALUES (1, 1, 1, 1, 'published', '{{}}');
INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, status, initial_context, created_at)
SELECT 1, 1, 1, 1, 'call', 'twilio', 'inbound', 'completed',
  jsonb_build_object('plan', CASE WHEN number <= 2 THEN 'gold' ELSE 'free' END, 'age', number),
  now() - number * interval '1 hour' FROM generate_series(1, {RUNS}) AS number;
"""
# As the older version says it, word for word: its statements stay prepared.
CHANGE = "UPDATE runs SET gathered_context = gathered_context || jsonb_build_object('step', $2::int) WHERE id = $1"
FILTER = """
SELECT run_id FROM run_values WHERE organization_id = $1 AND name = 'context.plan' AND value = $2
ORDER BY created_at DESC, run_id DESC LIMIT 50
"""
FILES = "SELECT relname, pg_relation_filenode(oid) FROM pg_class WHERE relname = ANY(:names)"
OWN = ["run_values", "pk_run_values", "ix_run_values_value", "ix_run_values_number"]


@pytest.fixture
async def older(empty_database: Database, tmp_path: Path) -> Database:
    """A database of the version before, with calls."""
    await migrations.upgrade_database(empty_database, lambda _: None, before(tmp_path / "older", "0037"))
    connection = await connect(empty_database)
    await connection.execute(SEED)
    await connection.close()
    return empty_database


async def read_all(database: Database) -> list[tuple[int, str, str]]:
    async with database.transaction() as session:
        rows = await session.execute(text("SELECT run_id, name, value FROM run_values ORDER BY 1, 2"))
        return [tuple(row) for row in rows]


async def read_files(database: Database, names: list[str]) -> set[int]:
    async with database.transaction() as session:
        return {row[1] for row in await session.execute(text(FILES), {"names": names})}


async def read_bounds(database: Database, table: str) -> dict[str, str]:
    async with database.transaction() as session:
        rows = await session.execute(
            text(
                "SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
                " WHERE inhparent = CAST(CAST(:table AS text) AS regclass)"
            ),
            {"table": table},
        )
        return {row[0]: row[1] for row in rows}


async def test_the_rows_and_indexes_stay_where_they_are(older: Database) -> None:
    rows, files = await read_all(older), await read_files(older, OWN)
    assert len(rows) == RUNS * 2
    await upgrade(older)
    assert await read_all(older) == rows
    kept = await read_files(older, [name.replace("run_values", "run_values_from_0") for name in OWN])
    assert kept == files, "neither a row nor an index was written again"
    async with older.transaction() as session:
        beyond = await session.scalar(text("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'ck_run_values%'"))
        await session.execute(text("DELETE FROM runs WHERE id <= 10"))
    assert beyond == 0
    assert await read_all(older) == [row for row in rows if row[0] > 10]


async def test_every_partition_is_vacuumed_often_and_has_every_index(older: Database) -> None:
    await upgrade(older)
    async with older.transaction() as session:
        rows = await session.execute(
            text(
                "SELECT reloptions, (SELECT count(*) FROM pg_index WHERE indrelid = c.oid AND indisvalid)"
                " FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'run_values'::regclass"
            )
        )
        found = [(sorted(row[0] or ()), row[1]) for row in rows]
        are_valid = await session.scalar(
            text("SELECT bool_and(indisvalid) FROM pg_index WHERE indrelid = 'run_values'::regclass")
        )
    options = ["autovacuum_vacuum_insert_scale_factor=0.02", "autovacuum_vacuum_scale_factor=0.02"]
    assert found == [(options, 3)] * 3
    assert are_valid


async def test_older_processes_write_and_filter_on(older: Database) -> None:
    """Their connections, transactions and prepared statements are from before the migration."""
    run_id = 7
    is_done = asyncio.Event()

    async def talk() -> int:
        count = 0
        connection = await connect(older)
        change, find = await connection.prepare(CHANGE), await connection.prepare(FILTER)
        while not is_done.is_set() or count < 50:
            async with connection.transaction():
                await connection.execute(
                    "INSERT INTO run_events (run_id, seq, organization_id, type, at_ms) VALUES ($1, $2, 1, 'x', 0)",
                    run_id,
                    count + 1,
                )
                await change.fetch(run_id, count + 1)
            count += 1
            assert [row["run_id"] for row in await find.fetch(1, "gold")] == [1, 2]
        await connection.close()
        return count

    talking = asyncio.create_task(talk())
    await upgrade(older)
    is_done.set()
    written = await talking
    assert [row for row in await read_all(older) if row[:2] == (run_id, "gathered.step")] == [
        (run_id, "gathered.step", str(written))
    ]
    assert await migrations.is_current(older)
    connection = await connect(older)
    again = (
        "INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value)"
        " VALUES (7, 'context.plan', 1, 1, now(), 'x')"
    )
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute(again)
    await connection.close()


async def test_an_interrupted_migration_is_gone_on_with(older: Database) -> None:
    """Its first step is committed by itself; the end that it has set stays the end."""
    connection = await connect(older)
    await connection.execute(
        "ALTER TABLE run_values ADD CONSTRAINT ck_run_values_from_0_end CHECK (run_id < 230000) NOT VALID"
    )
    await connection.close()
    await upgrade(older)
    bounds = await read_bounds(older, "run_values")
    assert bounds.pop("run_values_default") == "DEFAULT"
    assert bounds == {
        "run_values_from_0": "FOR VALUES FROM (MINVALUE) TO ('230000')",
        "run_values_from_230000": "FOR VALUES FROM ('230000') TO ('300000')",
    }


async def test_the_months_are_those_of_the_events(older: Database) -> None:
    async with older.transaction() as session:
        await session.execute(text("SELECT setval('runs_id_seq', 54321)"))
        await session.execute(text("ALTER TABLE run_events DETACH PARTITION run_events_from_0"))
        await session.execute(
            text("CREATE TABLE run_events_from_300000 PARTITION OF run_events FOR VALUES FROM (300000) TO (450000)")
        )
    await upgrade(older)
    bounds = await read_bounds(older, "run_values")
    assert bounds.pop("run_values_default") == "DEFAULT"
    assert bounds == {
        "run_values_from_0": "FOR VALUES FROM (MINVALUE) TO ('200000')",
        "run_values_from_200000": "FOR VALUES FROM ('200000') TO ('300000')",
        "run_values_from_300000": "FOR VALUES FROM ('300000') TO ('450000')",
    }


async def test_without_months_ahead_the_first_partition_has_room_for_one(older: Database) -> None:
    """No worker ran for a long time."""
    async with older.transaction() as session:
        await session.execute(text("SELECT setval('runs_id_seq', 345678)"))
    await upgrade(older)
    bounds = await read_bounds(older, "run_values")
    assert bounds == {
        "run_values_from_0": "FOR VALUES FROM (MINVALUE) TO ('700000')",
        "run_values_default": "DEFAULT",
    }
