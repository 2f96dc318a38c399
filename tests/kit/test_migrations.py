"""Migrations: forwards only, once, in agreement with the tables of the code and of PgQueuer."""

import asyncio
import re
import uuid

import asyncpg
import pytest
from pgqueuer.queries import Queries
from sqlalchemy import make_url, text

from offhook.bootstrap import METADATA
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from tests.databases import create_database, drop_database
from tests.kit.catalog import read_catalog


@pytest.mark.slow
async def test_alembic_finds_no_difference_between_the_models_and_the_schema(empty_database: Database) -> None:
    await migrations.upgrade_database(empty_database, lambda _: None)
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(migrations.schema_differences, METADATA) == []


async def test_the_schema_is_the_models_and_what_no_model_can_say(empty_database: Database, pg_url: str) -> None:
    """Alembic compares neither the conditions of indexes nor their included columns, generated columns, collations and
    storage options: PostgreSQL's own description of both does.
    """
    await migrations.upgrade_database(empty_database, lambda _: None)
    migrated = await described(empty_database)
    name = f"models_{uuid.uuid4().hex}"
    of_models = Database(await create_database(pg_url, name, template="template0"))
    try:
        async with of_models.engine.begin() as connection:
            await connection.execute(text("CREATE EXTENSION vector"))
            await connection.run_sync(METADATA.create_all)
        modeled = await described(of_models)
    finally:
        await of_models.dispose()
        await drop_database(pg_url, name)

    assert modeled - migrated == set()
    others = ("alembic_version", "pgqueuer")
    beyond = [(kind, line) for kind, line in migrated - modeled if not any(name in line for name in others)]
    assert sorted((kind, name_of(line)) for kind, line in beyond) == [
        ("function", "extract_run_values"),
        ("function", "knowledge_tsvector"),
        ("function", "record_run_count_changes"),
        ("function", "sync_run_values"),
        ("trigger", "record_run_deletes"),
        ("trigger", "record_run_inserts"),
        ("trigger", "sync_run_values_on_insert"),
        ("trigger", "sync_run_values_on_update"),
    ]


async def described(database: Database) -> set[tuple[str, str]]:
    async with database.engine.connect() as connection:
        return await connection.run_sync(read_catalog)


def name_of(definition: str) -> str:
    """``sync_run_values`` of ``CREATE FUNCTION public.sync_run_values(…) …``."""
    match = re.match(r"CREATE (?:OR REPLACE )?\w+ (?:public\.)?(\w+)", definition)
    assert match is not None, definition
    return match[1]


@pytest.mark.slow
async def test_pgqueuer_finds_the_tables_that_it_would_make_itself(empty_database: Database) -> None:
    await migrations.upgrade_database(empty_database, lambda _: None)
    connection = await asyncpg.connect(empty_database.url.replace("+asyncpg", ""))
    try:
        plan = await Queries.from_asyncpg_connection(connection).plan_upgrade()
    finally:
        await connection.close()
    assert plan.statements == ()


async def test_it_says_what_it_applies_and_the_second_time_nothing(empty_database: Database) -> None:
    assert await migrations.current_revision(empty_database) is None
    said: list[str] = []
    await migrations.upgrade_database(empty_database, said.append)
    assert said[0] == "Applying migration 0026: initial schema."
    assert len(said) == len(migrations.list_revisions())
    assert await migrations.is_current(empty_database)

    assert await migrations.upgrade_database(empty_database, said.append) == []
    assert len(said) == len(migrations.list_revisions())


@pytest.mark.slow
async def test_two_processes_that_start_at_once_apply_each_migration_once(empty_database: Database) -> None:
    other = Database(empty_database.url)
    try:
        applied = await asyncio.gather(
            migrations.upgrade_database(empty_database, lambda _: None),
            migrations.upgrade_database(other, lambda _: None),
        )
    finally:
        await other.dispose()
    assert sorted(applied, key=len) == [[], list(migrations.list_revisions())]


async def test_a_newer_database_is_refused_with_a_sentence_and_left_alone(empty_database: Database) -> None:
    await migrations.upgrade_database(empty_database, lambda _: None)
    async with empty_database.transaction() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert not await migrations.is_current(empty_database)
    with pytest.raises(migrations.MigrationError, match="The database is at migration 9999"):
        await migrations.upgrade_database(empty_database, lambda _: None)
    assert await migrations.current_revision(empty_database) == "9999"


async def test_an_older_database_is_refused_with_a_sentence_and_left_alone(empty_database: Database) -> None:
    """A development database from before the initial schema; its note allows code that is newer than it."""
    async with empty_database.transaction() as session:
        await session.execute(text("CREATE TABLE alembic_version (version_num varchar(32) NOT NULL)"))
        await session.execute(text("INSERT INTO alembic_version VALUES ('0025')"))
        await session.execute(text("COMMENT ON TABLE alembic_version IS '0025 serves code of 0021 and later'"))
    before = await described(empty_database)

    assert not await migrations.is_current(empty_database)
    sentence = (
        "The database is at migration 0025, older than this version of Offhook can migrate: first run `offhook migrate` of"
        " a version that has both 0025 and 0026, or start with an empty database."
    )
    for use in (migrations.require_current(empty_database), migrations.upgrade_database(empty_database, print)):
        with pytest.raises(migrations.MigrationError) as refused:
            await use
        assert str(refused.value) == sentence
    assert await migrations.current_revision(empty_database) == "0025"
    assert await described(empty_database) == before


def test_revisions_are_one_line_without_gaps() -> None:
    numbers = [int(revision) for revision in migrations.list_revisions()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_limits_of_an_administrator_end_no_migration(empty_database: Database) -> None:
    name = make_url(empty_database.url).database
    limits = {"statement_timeout": 100, "idle_session_timeout": 100, "idle_in_transaction_session_timeout": 100}
    async with empty_database.transaction() as session:
        for limit, milliseconds in limits.items():
            await session.execute(text(f'ALTER DATABASE "{name}" SET {limit} = {milliseconds}'))
    async with empty_database.without_time_limit() as unlimited, unlimited.engine.connect() as connection:
        await connection.execute(text("SELECT pg_sleep(0.2)"))
        await asyncio.sleep(0.2)
        await connection.commit()
        await asyncio.sleep(0.2)
        assert await connection.scalar(text("SELECT 1")) == 1
