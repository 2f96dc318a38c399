"""Reads on connections of their own: what is lost or cut off disturbs no later read."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from offhook.kit.database.database import Database
from offhook.kit.database.direct_reads import DirectReadPool

OTHERS = """
FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%the reads%'
"""


@pytest.fixture
async def reads(db: Database) -> AsyncIterator[DirectReadPool]:
    found = DirectReadPool(db)
    yield found
    await found.close()


@pytest.fixture
async def watcher(db: Database) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(db.url.replace("+asyncpg", ""))
    yield connection
    await connection.close()


async def number(reads: DirectReadPool, value: int, seconds: float = 0) -> int:
    row = await reads.fetch_row("SELECT $1::int AS n, pg_sleep($2) /* the reads */", value, seconds)
    assert row is not None
    return int(row["n"])


class TestReads:
    async def test_no_row(self, reads: DirectReadPool) -> None:
        assert await reads.fetch_row("SELECT 1 WHERE false") is None

    async def test_many_at_once_share_a_few_connections(
        self, reads: DirectReadPool, watcher: asyncpg.Connection
    ) -> None:
        found = await asyncio.gather(*(number(reads, value, 0.01) for value in range(20)))
        assert found == list(range(20))
        assert await watcher.fetchval(f"SELECT count(*) {OTHERS}") == 4

    async def test_lost_connections_are_replaced(self, reads: DirectReadPool, watcher: asyncpg.Connection) -> None:
        await asyncio.gather(*(number(reads, value, 0.01) for value in range(4)))
        assert await watcher.fetch(f"SELECT pg_terminate_backend(pid) {OTHERS}")
        assert await number(reads, 5) == 5

    async def test_a_cancelled_read_leaves_no_answer_behind(self, reads: DirectReadPool) -> None:
        task = asyncio.create_task(number(reads, 1, 30))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(task, 0.1)
        assert [await number(reads, value) for value in (2, 3)] == [2, 3]

    async def test_the_database_is_away(self) -> None:
        reads = DirectReadPool(Database("postgresql+asyncpg://nobody@127.0.0.1:1/none"))
        with pytest.raises(ConnectionError):
            await number(reads, 1)

    async def test_closing_ends_every_connection(self, reads: DirectReadPool, watcher: asyncpg.Connection) -> None:
        late = asyncio.create_task(number(reads, 1, 0.2))
        await number(reads, 2)
        await reads.close()
        assert await late == 1
        while await watcher.fetchval(f"SELECT count(*) {OTHERS}"):
            await asyncio.sleep(0.01)
