"""Statements on the partitions of tables that are partitioned by run, which belong to no organization."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ARRAY, DateTime, Integer, TableClause, Text, bindparam, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import VACUUMED_OFTEN, Run, RunEvent, RunValue

# Waiting for this lock blocks nobody and makes autovacuum leave the table, which it does after a second.
_GENTLE_TIMEOUT: Final = text("SET LOCAL lock_timeout = '5s'")
# Shorter than PostgreSQL takes to see a deadlock, and than anybody notices who waits behind it.
_LOCK_TIMEOUT: Final = text("SET LOCAL lock_timeout = '500ms'")
_BOUNDS: Final = re.compile(r"FOR VALUES FROM \((?:'?(-?\d+)'?|MINVALUE)\) TO \('?(\d+)'?\)")
_PARTITIONS: Final = text(
    "SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds"
    " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE i.inhparent = CAST(CAST(:table AS text) AS regclass) AND NOT i.inhdetachpending"
)


@dataclass(frozen=True, slots=True)
class PartitionedTable:
    """A table whose partitions have the rows of a range of runs. ``options``: storage parameters of each partition, which
    inherits none."""

    name: str
    options: tuple[tuple[str, float], ...] = ()


EVENTS: Final = PartitionedTable(RunEvent.__tablename__)
VALUES: Final = PartitionedTable(RunValue.__tablename__, tuple(VACUUMED_OFTEN.items()))
TABLES: Final = (EVENTS, VALUES)


@dataclass(frozen=True, slots=True, order=True)
class RunRange:
    """The runs from ``first`` to before ``end``."""

    end: int
    first: int


@dataclass(frozen=True, slots=True)
class RunPartition:
    """A table of the rows of these runs."""

    name: str
    runs: RunRange


@dataclass(frozen=True, slots=True)
class RunPeriods:
    """After how many days runs are deleted, by organization and by agent; the shorter one applies."""

    organizations: dict[int, int]
    agents: dict[int, int]


@dataclass(frozen=True, slots=True)
class RunsStep:
    """A few runs: how many, the lowest number of them, and whether one is kept."""

    count: int
    first_id: int
    has_kept: bool


# ``least`` leaves out what is NULL.
_RUNS_STEP: Final = text(
    "SELECT count(*) AS count, coalesce(min(id), 0) AS first_id, coalesce(bool_or(is_kept), false) AS has_kept FROM ("
    "  SELECT r.id, least(o.days, a.days) IS NULL OR r.is_leased OR r.status = ANY(:live)"
    "    OR r.created_at >= :now - make_interval(days => least(o.days, a.days)) AS is_kept"
    "  FROM runs r"
    "  LEFT JOIN unnest(:organizations, :organization_days) AS o(id, days) ON o.id = r.organization_id"
    "  LEFT JOIN unnest(:agents, :agent_days) AS a(id, days) ON a.id = r.workflow_id"
    "  WHERE r.id >= :first AND r.id < :before ORDER BY r.id DESC LIMIT :limit) AS looked_at"
).bindparams(
    bindparam("live", type_=ARRAY(Text)),
    bindparam("now", type_=DateTime(timezone=True)),
    *(bindparam(name, type_=ARRAY(Integer)) for name in ("organizations", "organization_days", "agents", "agent_days")),
)


async def list_partitions(session: AsyncSession, table: PartitionedTable) -> list[RunPartition]:
    """Returns the table's partitions in order, without the one for rows that fit in no other."""
    rows = await session.execute(_PARTITIONS, {"table": table.name})
    bounds = [(row.name, _BOUNDS.fullmatch(row.bounds)) for row in rows]
    found = [
        RunPartition(name, RunRange(first=int(match[1] or 0), end=int(match[2])))
        for name, match in bounds
        if match is not None
    ]
    return sorted(found, key=lambda partition: partition.runs)


async def create_partition(session: AsyncSession, table: PartitionedTable, runs: RunRange) -> None:
    """Adds a partition. It locks the table and the writers of ``runs`` until the commit."""
    await _prepare_locks(session, "runs")
    options = ", ".join(f"{name} = {value}" for name, value in table.options)
    await session.execute(
        text(
            f"CREATE TABLE {table.name}_from_{runs.first} PARTITION OF {table.name}"
            f" FOR VALUES FROM ({runs.first}) TO ({runs.end})" + (f" WITH ({options})" if options else "")
        )
    )


async def drop_partition(session: AsyncSession, partition: RunPartition) -> None:
    """Deletes a partition with its rows. It locks its table and ``runs`` until the commit."""
    await _prepare_locks(session, f"runs, {partition.name}")
    await session.execute(text(f"DROP TABLE {partition.name}"))


async def _prepare_locks(session: AsyncSession, tables: str) -> None:
    await session.execute(_GENTLE_TIMEOUT)
    await session.execute(text(f"LOCK TABLE {tables} IN SHARE UPDATE EXCLUSIVE MODE"))
    await session.execute(_LOCK_TIMEOUT)


async def is_analysis_due(session: AsyncSession, table: PartitionedTable) -> bool:
    """Returns whether the table as a whole was not analyzed for a day."""
    due = text(
        "SELECT coalesce(last_analyze < now() - interval '1 day', true) FROM pg_stat_user_tables"
        " WHERE relid = CAST(CAST(:table AS text) AS regclass)"
    )
    return bool(await session.scalar(due, {"table": table.name}))


async def count_rows_outside(session: AsyncSession, table: PartitionedTable, *, limit: int) -> int:
    """Returns how many rows are in no partition of their own, up to ``limit``."""
    outside = select(literal(1)).select_from(TableClause(f"{table.name}_default")).limit(limit).subquery()
    return await session.scalar(select(func.count()).select_from(outside)) or 0


async def find_last_run_id(session: AsyncSession) -> int:
    """Returns the highest number that a run got, or may get by a transaction that is still open."""
    return await session.scalar(text("SELECT coalesce(pg_sequence_last_value('runs_id_seq'), 0)")) or 0


async def find_first_run_since(session: AsyncSession, since: datetime) -> int | None:
    rows = select(Run.id).where(Run.created_at >= since).order_by(Run.created_at, Run.id).limit(1)
    return await session.scalar(rows)


async def list_next_runs(session: AsyncSession, run_id: int, *, limit: int) -> Sequence[datetime]:
    """Returns when the next runs began, from this number on."""
    return (await session.scalars(select(Run.created_at).where(Run.id >= run_id).order_by(Run.id).limit(limit))).all()


async def look_at_runs(
    session: AsyncSession, periods: RunPeriods, runs: RunRange, now: datetime, *, limit: int
) -> RunsStep:
    """Looks at some of these runs, the highest numbers first. A run is kept while it is not over, has
    no period, or is younger than its period."""
    values = {
        "organizations": list(periods.organizations),
        "organization_days": list(periods.organizations.values()),
        "agents": list(periods.agents),
        "agent_days": list(periods.agents.values()),
        "live": sorted(LIVE_STATES),
        "now": now,
        "first": runs.first,
        "before": runs.end,
        "limit": limit,
    }
    row = (await session.execute(_RUNS_STEP, values)).one()
    return RunsStep(row.count, row.first_id, row.has_kept)  # type: ignore[arg-type]
