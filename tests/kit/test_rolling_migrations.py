"""Migrations while an installation runs: two versions side by side, tables in use, and the older version back again."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from offhook.kit.database import migrations
from offhook.kit.database.database import Database

ADD_COLUMN = """
from alembic import op

revision = "{revision}"
down_revision = "{before}"
{oldest_code}


def upgrade() -> None:
    op.execute("ALTER TABLE organizations ADD COLUMN nickname text")
"""
BUILD_INDEX = """
from alembic import op

revision = "{revision}"
down_revision = "{before}"
oldest_code = "{before}"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.create_index("ix_organizations_nickname", "organizations", ["name"], postgresql_concurrently=True)
"""
# A sequence counts on when a transaction is rolled back.
END_IN_DEADLOCK_ONCE = """
from alembic import op

revision = "{revision}"
down_revision = "{before}"
{oldest_code}


def upgrade() -> None:
    op.execute("ALTER TABLE organizations ADD COLUMN nickname text")
    op.execute(
        "DO $$ BEGIN IF nextval('attempts') = 1 THEN "
        "RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END IF; END $$"
    )
"""
OURS = migrations.head_revision()
NEXT = f"{int(OURS) + 1:04d}"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url)
    yield opened
    await opened.dispose()


def newer_version(folder: Path, source: str, *, oldest_code: str | None = None) -> Path:
    """The migrations of a later version: ours and one more."""
    shutil.copytree(migrations.migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    line = "" if oldest_code is None else f'oldest_code = "{oldest_code}"'
    (folder / "versions" / f"{NEXT}_next.py").write_text(
        f'"""Next."""\n{source.format(revision=NEXT, before=OURS, oldest_code=line)}'
    )
    return folder


async def test_older_code_works_on_beside_newer_code_that_allows_it(database: Database, tmp_path: Path) -> None:
    newer = newer_version(tmp_path / "newer", ADD_COLUMN, oldest_code=OURS)
    assert await migrations.upgrade_database(database, lambda _: None, newer) == [NEXT]

    assert await migrations.is_current(database), "a process of the older version stays well"
    await migrations.require_current(database)
    assert await migrations.upgrade_database(database, lambda _: None) == [], "one that starts leaves the schema alone"
    assert await migrations.current_revision(database) == NEXT
    assert await migrations.upgrade_database(database, lambda _: None, newer) == [], "and the newer one comes back"


async def test_older_code_refuses_a_schema_that_does_not_serve_it(database: Database, tmp_path: Path) -> None:
    newer = newer_version(tmp_path / "newer", ADD_COLUMN)
    await migrations.upgrade_database(database, lambda _: None, newer)

    assert not await migrations.is_current(database)
    with pytest.raises(migrations.MigrationError, match=f"The database is at migration {NEXT}, this version"):
        await migrations.require_current(database)
    await migrations.require_current(database, newer)


@pytest.mark.slow
async def test_a_migration_lets_requests_go_on_while_it_waits_for_a_table(database: Database, tmp_path: Path) -> None:
    newer = newer_version(tmp_path / "newer", ADD_COLUMN, oldest_code=OURS)
    said: list[str] = []
    holder, request = Database(database.url), Database(database.url)
    try:
        async with holder.transaction() as long_report:
            await long_report.execute(text("SELECT count(*) FROM organizations"))
            migrating = asyncio.create_task(migrations.upgrade_database(database, said.append, newer))
            while f"Migration {NEXT} waits for a table that is in use." not in said:
                await asyncio.sleep(0.05)
            async with request.transaction() as session:
                await session.execute(text("SELECT count(*) FROM organizations"))
            assert not migrating.done()
        assert await migrating == [NEXT]
    finally:
        await holder.dispose()
        await request.dispose()


@pytest.mark.slow
async def test_a_migration_that_lost_a_deadlock_is_tried_again(database: Database, tmp_path: Path) -> None:
    newer = newer_version(tmp_path / "newer", END_IN_DEADLOCK_ONCE, oldest_code=OURS)
    async with database.transaction() as session:
        await session.execute(text("CREATE SEQUENCE attempts"))
    assert await migrations.upgrade_database(database, lambda _: None, newer) == [NEXT]


async def test_an_index_is_built_beside_open_transactions(database: Database, tmp_path: Path) -> None:
    """The lock between migrating processes is a transaction too: building an index must not wait for it."""
    newer = newer_version(tmp_path / "newer", BUILD_INDEX)
    async with asyncio.timeout(30):
        assert await migrations.upgrade_database(database, lambda _: None, newer) == [NEXT]
    async with database.transaction() as session:
        valid = await session.scalar(
            text("SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_organizations_nickname'::regclass")
        )
    assert valid is True
    assert await migrations.is_current(database), "its oldest code is ours"
