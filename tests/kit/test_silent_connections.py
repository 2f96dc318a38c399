"""Connections to the database that fall silent: every wait for them ends, and what comes after works again."""

import asyncio
import socket
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from offhook.kit.database.connecting import APPLICATION_NAME
from offhook.kit.database.database import Database, DatabaseSilent
from offhook.kit.database.direct_reads import DirectReadPool
from offhook.kit.database.postgres_listener import PostgresListener
from tests.fakes.database import SilentProxy


@pytest.fixture
async def line(database_url: str) -> AsyncIterator[SilentProxy]:
    async with SilentProxy(database_url) as proxy:
        yield proxy


@pytest.fixture
async def far_db(line: SilentProxy) -> AsyncIterator[Database]:
    database = Database(line.url, statement_timeout_s=0.3)
    yield database
    await database.dispose()


async def test_the_kernel_watches_connections_too(line: SilentProxy, far_db: Database) -> None:
    async with far_db.engine.connect() as connection:
        raw = await connection.get_raw_connection()
        driver: Any = raw.driver_connection
        sock = driver._transport.get_extra_info("socket")
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 20_000


async def read_one(db: Database) -> int:
    async with db.transaction() as session:
        return int((await session.execute(text("SELECT 1"))).scalar_one())


@pytest.mark.slow
async def test_a_silent_connection_costs_one_transaction(line: SilentProxy, far_db: Database) -> None:
    await asyncio.gather(*(read_one(far_db) for _ in range(4)))
    line.fall_silent()

    async with asyncio.timeout(60):
        with pytest.raises(DatabaseSilent):
            await read_one(far_db)
        # The others of the pool are as silent, and are not tried.
        assert await asyncio.gather(*(read_one(far_db) for _ in range(4))) == [1, 1, 1, 1]


async def test_a_canceled_wait_leaves_a_working_pool(line: SilentProxy, far_db: Database) -> None:
    await read_one(far_db)
    line.fall_silent()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await read_one(far_db)
    far_db.distrust_connections()
    async with asyncio.timeout(60):
        assert await read_one(far_db) == 1


async def test_a_statement_that_takes_too_long_is_ended(far_db: Database) -> None:
    async with asyncio.timeout(60):
        with pytest.raises(DatabaseSilent):
            async with far_db.transaction() as session:
                await session.execute(text("SELECT pg_sleep(30)"))
        async with far_db.without_time_limit() as unlimited, unlimited.transaction() as session:
            await session.execute(text("SELECT pg_sleep(0.5)"))


async def test_connections_of_a_peak_are_closed_when_nobody_needs_them(database_url: str) -> None:
    db = Database(database_url, idle_timeout_s=1.0)
    async with asyncio.timeout(60), db.without_time_limit() as watcher:
        await asyncio.gather(*(sleep_in(db, 0.2) for _ in range(6)))
        assert await count_connections(watcher) == 7
        while await count_connections(watcher) > 1:
            await asyncio.sleep(0.1)
        assert await asyncio.gather(*(read_one(db) for _ in range(6))) == [1] * 6
    await db.dispose()


async def count_connections(watcher: Database) -> int:
    """Returns how many pooled connections the database has, with the watcher's."""
    statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = :name"
    async with watcher.transaction() as session:
        return int(await session.scalar(text(statement), {"name": APPLICATION_NAME}) or 0)


async def sleep_in(db: Database, seconds: float) -> None:
    async with db.transaction() as session:
        await session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})


async def test_a_direct_read_is_repeated_on_another_connection(line: SilentProxy) -> None:
    reads = DirectReadPool(Database(line.url), timeout_s=0.3)
    await reads.fetch_row("SELECT 1")
    line.fall_silent()

    async with asyncio.timeout(60):
        row = await reads.fetch_row("SELECT 2 AS n")
    assert row is not None
    assert row["n"] == 2
    await reads.close()


@pytest.mark.slow
async def test_a_deaf_listener_hears_again(line: SilentProxy, far_db: Database, db: Database) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    listener = PostgresListener(
        far_db, "some_channel", heard.put_nowait, lambda: None, name="test", probe_interval_s=0.1, probe_timeout_s=0.3
    )
    listener.start()
    await listener.wait_until_ready(60)
    line.fall_silent()

    began = monotonic()
    while heard.empty() and monotonic() - began < 60:
        async with db.transaction() as session:
            await session.execute(text("SELECT pg_notify('some_channel', 'hello')"))
        await asyncio.sleep(0.1)
    assert heard.get_nowait() == "hello"
    await listener.close()


async def test_connections_to_a_server_that_became_a_standby_are_given_up(database_url: str) -> None:
    database = Database(database_url)
    try:
        async with database.transaction() as first, database.transaction() as second:
            for session in (first, second):
                # what PostgreSQL says is the same as on a standby
                await session.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
        with pytest.raises(DBAPIError) as failed:
            await write_number(database)
        assert failed.value.connection_invalidated, "requests get 503"
        await write_number(database)
    finally:
        await database.dispose()


async def write_number(database: Database) -> None:
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE IF NOT EXISTS numbers (id int)"))


async def test_a_server_without_an_address_is_an_unreachable_database() -> None:
    database = Database("postgresql+asyncpg://offhook@db.invalid/offhook")
    try:
        with pytest.raises(ConnectionError):  # requests get 503, commands say a sentence
            await read_one(database)
    finally:
        await database.dispose()
