"""One organization's transactions wait for each other without taking everybody's connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError as PoolTimeout

from offhook.kit.database.connection_shares import MAX_OF_ONE_ORGANIZATION, ConnectionShares
from offhook.kit.database.database import Database

HOSTILE, PATIENT = 1, 2
LOCK = text("SELECT pg_advisory_xact_lock(4711)")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.dispose()


async def wait_for_lock(db: Database) -> None:
    async with db.transaction(HOSTILE) as session:
        await session.execute(LOCK)


async def test_an_organization_that_waits_for_itself_leaves_connections_to_others(db: Database) -> None:
    async with db.transaction() as holder:
        await holder.execute(LOCK)
        waiting = [asyncio.create_task(wait_for_lock(db)) for _ in range(60)]
        for _ in range(5):
            async with db.transaction(PATIENT) as session:
                assert (await session.execute(text("SELECT 1"))).scalar_one() == 1
        assert db.count_used_connections() <= MAX_OF_ONE_ORGANIZATION + 1
        assert not any(task.done() for task in waiting)
    await asyncio.gather(*waiting)


async def test_who_has_a_place_needs_no_second_one(db: Database) -> None:
    async def read_inside(_: int) -> None:
        async with db.transaction(HOSTILE) as session:
            # a part of the work, in a task of its own
            await asyncio.create_task(wait_for_lock(db))
            await session.execute(text("SELECT 1"))

    async with asyncio.timeout(60):
        await asyncio.gather(*map(read_inside, range(MAX_OF_ONE_ORGANIZATION * 2)))


async def test_a_task_that_goes_on_after_its_request_takes_a_place_of_its_own() -> None:
    shares = ConnectionShares(limit=1)
    request_is_over = asyncio.Event()

    async def work_on() -> None:
        await request_is_over.wait()
        async with shares.take(HOSTILE, timeout_s=0):
            pass

    async with shares.take(HOSTILE):
        left_behind = asyncio.create_task(work_on())
    async with held_by_another_task(shares):
        request_is_over.set()
        with pytest.raises(PoolTimeout):
            await left_behind


async def test_a_place_that_does_not_become_free_in_time_is_an_error() -> None:
    shares = ConnectionShares(limit=1)
    async with held_by_another_task(shares):
        with pytest.raises(PoolTimeout):
            async with shares.take(HOSTILE, timeout_s=0):
                pass
        async with shares.take(PATIENT):
            pass
    async with shares.take(HOSTILE, timeout_s=1):
        pass


async def test_a_wait_that_is_canceled_gives_its_place_up() -> None:
    shares = ConnectionShares(limit=1)
    async with held_by_another_task(shares):
        waiting = asyncio.create_task(take_once(shares))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with shares.take(HOSTILE, timeout_s=1):
        pass


async def take_once(shares: ConnectionShares) -> None:
    async with shares.take(HOSTILE):
        pass


@asynccontextmanager
async def held_by_another_task(shares: ConnectionShares) -> AsyncIterator[None]:
    taken, is_over = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with shares.take(HOSTILE):
            taken.set()
            await is_over.wait()

    holding = asyncio.create_task(hold())
    await taken.wait()
    try:
        yield
    finally:
        is_over.set()
        await holding
