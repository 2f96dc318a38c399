"""Statements on the partitions of ``run_events``, which belong to no organization."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ARRAY, DateTime, Integer, Text, bindparam, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run

# Waiting for this lock blocks nobody and makes autovacuum leave the table, which it does after a second.
_GENTLE_TIMEOUT: Final = text("SET LOCAL lock_timeout = '5s'")
# Shorter than PostgreSQL takes to see a deadlock, and than anybody notices who waits behind it.
_LOCK_TIMEOUT: Final = text("SET LOCAL lock_timeout = '500ms'")
_BOUNDS: Final = re.compile(r"FOR VALUES FROM \((?:'?(-?\d+)'?|MINVALUE)\) TO \('?(\d+)'?\)")
_PARTITIONS: Final = text(
    "SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds"
    " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE i.inhparent = 'run_events'::regclass AND NOT i.inhdetachpending"
)


@dataclass(frozen=True, slots=True)
class EventPartition:
    """A table of the events of the runs from ``first`` to before ``end``."""

    name: str
    first: int
    end: int


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


async def list_partitions(session: AsyncSession) -> list[EventPartition]:
    """Returns the partitions in order, without the one for events that fit in no other."""
    rows = await session.execute(_PARTITIONS)
    bounds = [(row.name, _BOUNDS.fullmatch(row.bounds)) for row in rows]
    found = [EventPartition(name, int(match[1] or 0), int(match[2])) for name, match in bounds if match is not None]
    return sorted(found, key=lambda partition: partition.end)


async def create_partition(session: AsyncSession, first: int, end: int) -> None:
    """Adds a partition. It locks ``run_events`` and the writers of ``runs`` until the commit."""
    await _prepare_locks(session, "runs")
    await session.execute(
        text(f"CREATE TABLE run_events_from_{first} PARTITION OF run_events FOR VALUES FROM ({first}) TO ({end})")
    )


async def drop_partition(session: AsyncSession, partition: EventPartition) -> None:
    """Deletes a partition with its events. It locks ``run_events`` and ``runs`` until the commit."""
    await _prepare_locks(session, f"runs, {partition.name}")
    await session.execute(text(f"DROP TABLE {partition.name}"))


async def _prepare_locks(session: AsyncSession, tables: str) -> None:
    await session.execute(_GENTLE_TIMEOUT)
    await session.execute(text(f"LOCK TABLE {tables} IN SHARE UPDATE EXCLUSIVE MODE"))
    await session.execute(_LOCK_TIMEOUT)


async def is_analysis_due(session: AsyncSession) -> bool:
    """Returns whether the table as a whole was not analyzed for a day."""
    due = text(
        "SELECT coalesce(last_analyze < now() - interval '1 day', true) FROM pg_stat_user_tables"
        " WHERE relid = 'run_events'::regclass"
    )
    return bool(await session.scalar(due))


async def count_events_outside(session: AsyncSession, *, limit: int) -> int:
    """Returns how many events are in no partition of their own, up to ``limit``."""
    counted = await session.scalar(
        text("SELECT count(*) FROM (SELECT FROM run_events_default LIMIT :limit) AS outside"), {"limit": limit}
    )
    return counted or 0


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
    session: AsyncSession, periods: RunPeriods, first: int, before: int, now: datetime, *, limit: int
) -> RunsStep:
    """Looks at runs from number ``first`` to ``before``, the highest numbers first. A run is kept while it is not over, has
    no period, or is younger than its period."""
    values = {
        "organizations": list(periods.organizations),
        "organization_days": list(periods.organizations.values()),
        "agents": list(periods.agents),
        "agent_days": list(periods.agents.values()),
        "live": sorted(LIVE_STATES),
        "now": now,
        "first": first,
        "before": before,
        "limit": limit,
    }
    row = (await session.execute(_RUNS_STEP, values)).one()
    return RunsStep(row.count, row.first_id, row.has_kept)  # type: ignore[arg-type]
