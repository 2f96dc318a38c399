"""Adds partitions of tables that grow with every run before they are needed, and deletes those that are no longer
kept."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
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
from offhook.runs.partitions.superuser_queries import TABLES, PartitionedTable, RunPartition, RunRange

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
_TAKEN: Final = "23514"  # rows outside have the runs of the new partition
OUTSIDE = Gauge(
    "offhook_rows_outside_partitions", "Rows of calls in no partition of their own: workers only.", ("table",)
)
log = structlog.get_logger(__name__)

IsPast = Callable[[RunRange], Awaitable[bool]]
StillHolds = Callable[[AsyncSession], Awaitable[bool]]


class RunPartitions:
    """One per process. Rows are partitioned by the number of their run, which grows with time; all tables have
    partitions with the same bounds, except for the first ones."""

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
            ends = {
                table: [partition.runs.end for partition in await queries.list_partitions(session, table)]
                for table in TABLES
            }
        of_last_month = last - (last if of_month is None else of_month)
        coming = self._list_ends(ends.values(), last, max(self._min_runs, self._round_up(of_last_month)))
        for table in TABLES:
            await self._look_after(table)
            await self._add_until(table, self._find_start(max(ends[table], default=0), last), coming)

    async def extend_beyond(self, last: int, coming: int) -> bool:
        """Lets the partitions reach beyond the run ``coming``, with which numbers go on after ``last``; returns False when a
        table was in use. The runs that are left out get no partitions of their own."""
        async with self._db.transaction() as session:
            ends = {
                table: max(
                    (partition.runs.end for partition in await queries.list_partitions(session, table)), default=0
                )
                for table in TABLES
            }
        end = self._round_up(coming + self._min_runs)
        for table in TABLES:
            start = self._find_start(ends[table], last)
            if start < end and not await self._add(table, RunRange(first=start, end=end)):
                return False
        return True

    async def drop_past(self, is_past: IsPast, still_holds: StillHolds, *, limit: int) -> int:
        """Deletes the partitions of the oldest closed ranges that ``is_past`` allows, at most ``limit`` ranges, and returns of
        how many. ``still_holds`` is asked in each transaction that deletes one."""
        dropped = 0
        for runs, partitions in await self._list_closed():
            if dropped == limit:
                break
            if await is_past(runs):
                for partition in partitions:
                    if not await self._drop(partition, still_holds):
                        return dropped
                dropped += 1
        return dropped

    async def _look_after(self, table: PartitionedTable) -> None:
        async with self._db.transaction() as session:
            outside = await queries.count_rows_outside(session, table, limit=_COUNTED_OUTSIDE)
            is_analysis_due = await queries.is_analysis_due(session, table)
        if is_analysis_due:
            # Autovacuum does not: without it the planner knows nothing about the table as a whole.
            await self._db.run_outside_transaction(f"ANALYZE {table.name}")
        OUTSIDE.labels(table.name).set(outside)
        if outside:
            log.warning("rows_outside_partitions", table=table.name, count=outside)

    def _list_ends(self, ends: Iterable[Sequence[int]], last: int, size: int) -> list[int]:
        """Returns where the partitions of every table are to end: where those of one end, and new ones of ``size`` runs."""
        known = sorted({end for of_table in ends for end in of_table if end > last})
        end = self._find_start(known[-1] if known else 0, last)
        if end - last < _TOO_FEW * size:
            while end - last < _AHEAD * size:
                end += size
                known.append(end)
        return known

    def _find_start(self, end: int, last: int) -> int:
        """Returns where a table goes on whose partitions end here."""
        # Rows without a partition stay outside; new runs have begun before the partition is there.
        return end if end > last else self._round_up(last + self._round_to)

    async def _add_until(self, table: PartitionedTable, start: int, ends: Sequence[int]) -> None:
        for end in ends:
            if end > start:
                if not await self._add(table, RunRange(first=start, end=end)):
                    return
                start = end

    async def _list_closed(self) -> list[tuple[RunRange, list[RunPartition]]]:
        before = self._clock.now() - _CLOSED_AFTER
        async with self._db.transaction() as session:
            by_runs: dict[RunRange, list[RunPartition]] = {}
            for table in TABLES:
                for partition in await queries.list_partitions(session, table):
                    by_runs.setdefault(partition.runs, []).append(partition)
            closed = []
            for runs, partitions in sorted(by_runs.items()):
                began = await queries.list_next_runs(session, runs.end, limit=1)
                if not began or began[0] > before:
                    break
                closed.append((runs, partitions))
        return closed

    async def _add(self, table: PartitionedTable, runs: RunRange) -> bool:
        try:
            async with self._db.transaction() as session:
                await queries.create_partition(session, table, runs)
        except DBAPIError as error:
            if _read_state(error) not in _BUSY | {_TAKEN}:
                raise
            # The next job tries again: there are months left, and rows without a partition are taken as well.
            log.warning(
                "partition_not_added", table=table.name, first=runs.first, end=runs.end, reason=_read_state(error)
            )
            return False
        log.info("partition_added", table=table.name, first=runs.first, end=runs.end)
        return True

    async def _drop(self, partition: RunPartition, still_holds: StillHolds) -> bool:
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
        log.info("partition_dropped", partition=partition.name, first=partition.runs.first, end=partition.runs.end)
        return True

    def _round_up(self, runs: int) -> int:
        return -(-runs // self._round_to) * self._round_to


def _read_state(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
