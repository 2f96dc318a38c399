"""Adds partitions of ``run_events`` before they are needed, and deletes those whose events nobody keeps."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog
from prometheus_client import Gauge
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs.partitions import superuser_queries as queries
from offhook.runs.partitions.superuser_queries import EventPartition

KEEP_JOB: Final = "run.keep_partitions"
KEEP_INTERVAL_S: Final = 3600.0
# A partition has the runs of a month, as many as the last one had; for fewer than these a table of their own is not worth it.
MIN_RUNS: Final = 100_000
MONTH: Final = timedelta(days=31)
_ROUND: Final = 10_000
# Months that are there ahead, and how few of them make the job add more.
_AHEAD: Final = 3
_TOO_FEW: Final = 2
# A partition is closed when a run after it began so long ago: no transaction takes as long to give a run its number.
_CLOSED_AFTER: Final = timedelta(hours=1)
_COUNTED_OUTSIDE: Final = 100_000
_BUSY: Final = frozenset({"55P03", "40P01"})  # a lock that was not free, a deadlock
_TAKEN: Final = "23514"  # events outside have the runs of the new partition
OUTSIDE = Gauge("offhook_events_outside_partitions", "Events of calls in no partition of their own: workers only.")
log = structlog.get_logger(__name__)

IsPast = Callable[[EventPartition], Awaitable[bool]]
StillHolds = Callable[[AsyncSession], Awaitable[bool]]


class EventPartitions:
    """One per process. Events are partitioned by the number of their run, which grows with time."""

    def __init__(self, db: Database, clock: Clock, *, min_runs: int = MIN_RUNS, round_to: int = _ROUND) -> None:
        self._db = db
        self._clock = clock
        self._min_runs = min_runs
        self._round_to = round_to

    async def keep_ahead(self, _: JsonObject) -> None:
        """Runs the job ``run.keep_partitions``: adds partitions for the next months, one per transaction."""
        async with self._db.transaction() as session:
            last = await queries.find_last_run_id(session)
            of_month = await queries.find_first_run_since(session, self._clock.now() - MONTH)
            partitions = await queries.list_partitions(session)
            outside = await queries.count_events_outside(session, limit=_COUNTED_OUTSIDE)
            is_analysis_due = await queries.is_analysis_due(session)
        if is_analysis_due:
            # Autovacuum does not: without it the planner knows nothing about the table as a whole.
            await self._db.run_outside_transaction("ANALYZE run_events")
        OUTSIDE.set(outside)
        if outside:
            log.warning("events_outside_partitions", count=outside)
        runs = max(self._min_runs, self._round_up(last - (last if of_month is None else of_month)))
        end = max((partition.end for partition in partitions), default=0)
        if end <= last:
            # These events are outside and stay there; new runs have begun before the partition is there.
            end = self._round_up(last + self._round_to)
        if end - last >= _TOO_FEW * runs:
            return
        while end - last < _AHEAD * runs:
            if not await self._add(end, end + runs):
                return
            end += runs

    async def drop_past(self, is_past: IsPast, still_holds: StillHolds, *, limit: int) -> int:
        """Deletes the oldest closed partitions that ``is_past`` allows, at most ``limit`` of them, and returns how many.
        ``still_holds`` is asked in the transaction that deletes one."""
        dropped = 0
        for partition in await self._list_closed():
            if dropped == limit:
                break
            if await is_past(partition):
                if not await self._drop(partition, still_holds):
                    break
                dropped += 1
        return dropped

    async def _list_closed(self) -> list[EventPartition]:
        before = self._clock.now() - _CLOSED_AFTER
        async with self._db.transaction() as session:
            closed = []
            for partition in await queries.list_partitions(session):
                began = await queries.list_next_runs(session, partition.end, limit=1)
                if not began or began[0] > before:
                    break
                closed.append(partition)
        return closed

    async def _add(self, first: int, end: int) -> bool:
        try:
            async with self._db.transaction() as session:
                await queries.create_partition(session, first, end)
        except DBAPIError as error:
            if _read_state(error) not in _BUSY | {_TAKEN}:
                raise
            # The next job tries again: there are months left, and events without a partition are taken as well.
            log.warning("partition_not_added", first=first, end=end, reason=_read_state(error))
            return False
        log.info("partition_added", first=first, end=end)
        return True

    async def _drop(self, partition: EventPartition, still_holds: StillHolds) -> bool:
        try:
            async with self._db.transaction() as session:
                if not await still_holds(session):
                    return False
                await queries.drop_partition(session, partition)
        except DBAPIError as error:
            if _read_state(error) not in _BUSY:
                raise
            log.warning("partition_not_dropped", partition=partition.name, reason=_read_state(error))
            return False
        log.info("partition_dropped", partition=partition.name, first=partition.first, end=partition.end)
        return True

    def _round_up(self, runs: int) -> int:
        return -(-runs // self._round_to) * self._round_to


def _read_state(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
