"""Processes whose machines disagree about the time go by the database's clock."""

import asyncio
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from structlog.testing import capture_logs

from offhook.kit.database.database import Database
from offhook.kit.database.database_clock import DatabaseClock


class _SlowMachine(DatabaseClock):
    """Of a machine whose own clock is 30 s behind."""

    def machine_time(self) -> datetime:
        return datetime.now(UTC) - timedelta(seconds=30)


async def database_time(db: Database) -> datetime:
    async with db.transaction() as session:
        read: datetime = (await session.execute(select(func.clock_timestamp()))).scalar_one()
    return read


async def test_a_wrong_clock_is_overruled(db: Database) -> None:
    clock = _SlowMachine()
    assert -31 < await clock.synchronize(db) < -29
    before = await database_time(db)
    assert before - timedelta(seconds=1) < clock.now() < await database_time(db) + timedelta(seconds=1)


async def test_it_goes_on_without_the_database() -> None:
    clock = DatabaseClock()
    first = clock.now()
    await asyncio.sleep(0.02)
    assert clock.now() - first >= timedelta(seconds=0.02)


async def test_a_wrong_clock_is_reported_once(db: Database) -> None:
    with capture_logs() as logs:
        staying = asyncio.create_task(_SlowMachine().stay_synchronized(db, interval_s=0.01))
        async with asyncio.timeout(60):
            while not logs:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        staying.cancel()
    (entry,) = [entry for entry in logs if entry["event"] == "clock_differs"]
    assert -31 < entry["ahead_s"] < -29
