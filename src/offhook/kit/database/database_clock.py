"""The database's clock as the clock of every process: machines that disagree about the time agree about leases."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS

SYNCHRONIZE_INTERVAL_S: Final = 30.0
# A larger difference is a fault of this machine that its operator should know of.
MAX_DIFFERENCE_S: Final = 2.0
_READ_TIMEOUT_S: Final = 5.0
_INFO: Final = "offhook_clock"
log = structlog.get_logger(__name__)


class DatabaseClock:
    """Implements :class:`offhook.kit.clock.Clock`: the database's time, counted on by this process's timer between two
    readings. Before the first reading it is the system's time."""

    def __init__(self) -> None:
        self._read_at = time.monotonic()
        self._read = self.machine_time()

    def machine_time(self) -> datetime:
        """Returns the time of this machine, right or wrong."""
        return datetime.now(UTC)

    def now(self) -> datetime:
        return self._read + timedelta(seconds=time.monotonic() - self._read_at)

    async def synchronize(self, db: Database) -> float:
        """Reads the database's clock; returns by how many seconds this machine's clock is ahead of it."""
        asked_at = time.monotonic()
        async with asyncio.timeout(_READ_TIMEOUT_S), db.transaction() as session:
            read: datetime = (await session.execute(select(func.clock_timestamp()))).scalar_one()
            answered_at = time.monotonic()
        # Read about in the middle of the question.
        self._read, self._read_at = read, (asked_at + answered_at) / 2
        return (self.machine_time() - self.now()).total_seconds()

    async def stay_synchronized(self, db: Database, *, interval_s: float = SYNCHRONIZE_INTERVAL_S) -> None:
        """Reads the database's clock every ``interval_s`` until canceled; warns once while the machine's clock is wrong."""
        was_wrong = False
        while True:
            try:
                ahead_s = await self.synchronize(db)
            except DATABASE_ERRORS as error:
                log.debug("clock_not_read", error=type(error).__name__)
            else:
                is_wrong = abs(ahead_s) > MAX_DIFFERENCE_S
                if is_wrong and not was_wrong:
                    log.warning("clock_differs", ahead_s=round(ahead_s, 1), followed="the database's")
                was_wrong = is_wrong
            await asyncio.sleep(interval_s)


def provide_clock(database: Database, clock: Clock) -> None:
    """Makes the clock that of all sessions of this database."""
    database.session_info[_INFO] = clock


def time_of(session: AsyncSession) -> datetime:
    """Returns the time that other processes agree with: what is compared on another machine must not be this machine's."""
    clock: Clock | None = session.info.get(_INFO)
    return datetime.now(UTC) if clock is None else clock.now()
