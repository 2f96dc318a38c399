"""How conversations went over the last days, by day and by agent: outcomes, minutes, cost and answer time."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy import Float, Integer, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.tables import Run
from offhook.usage.periods import last_days, midnight, zone
from offhook.workflows import service as workflows

MAX_DAYS: Final = 92
# Answer times are not in an index: of so many of the newest runs they are read.
MOST_TIMED: Final = 20_000
_UNKNOWN: Final = "unknown"


async def insights(session: AsyncSession, organization_id: int, now: datetime, count: int) -> dict[str, Any]:
    """``{days, agents}`` of finished runs; days by the organisation's clocks, the oldest first, empty ones included."""
    where = zone((await orgs.organization(session, organization_id)).time_zone)
    days = last_days(now, count, where)
    since = midnight(days[0], where)
    counted = await _counted(session, organization_id, since, where)
    timed = await _timed(session, organization_id, since, where)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in counted})
    return {
        "days": [_group([row for row in counted if row.day == day], timed["day", day]) | {"date": day} for day in days],
        "agents": sorted(
            _agents(counted, timed, names), key=lambda agent: (-agent["call_count"], agent["workflow_id"])
        ),
    }


def _agents(counted: Sequence[Any], timed: dict[tuple[str, Any], Any], names: dict[int, str]) -> list[dict[str, Any]]:
    by_agent: dict[int, list[Any]] = defaultdict(list)
    for row in counted:
        by_agent[row.workflow_id].append(row)
    return [
        _group(rows, timed["workflow", workflow_id])
        | {"workflow_id": workflow_id, "workflow_name": names.get(workflow_id, "")}
        for workflow_id, rows in by_agent.items()
    ]


def _group(rows: Sequence[Any], timed: Any) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    for row in rows:
        outcomes[row.outcome or _UNKNOWN] += row.number
    return {
        "call_count": sum(outcomes.values()),
        "total_minutes": round(float(sum(row.seconds for row in rows)) / 60, 2),
        "total_cost_cents": int(sum(row.cost_cents for row in rows)),
        "outcomes": dict(outcomes.most_common()),
        "p50_ms": None if timed is None else round(timed.p50),
        "p95_ms": None if timed is None else round(timed.p95),
    }


async def _counted(session: AsyncSession, organization_id: int, since: datetime, where: ZoneInfo) -> Sequence[Any]:
    """``(day, workflow_id, outcome, number, seconds, cost_cents)``."""
    day = func.date(func.timezone(where.key, Run.created_at)).label("day")
    found = await session.execute(
        select(
            day,
            Run.workflow_id,
            Run.outcome,
            func.count().label("number"),
            func.coalesce(func.sum(Run.duration), 0).label("seconds"),
            func.sum(Run.cost_cents).label("cost_cents"),
        )
        .where(Run.organization_id == organization_id, Run.created_at >= since, Run.outcome.is_not(None))
        .group_by(day, Run.workflow_id, Run.outcome)
    )
    return found.all()


async def _timed(
    session: AsyncSession, organization_id: int, since: datetime, where: ZoneInfo
) -> dict[tuple[str, Any], Any]:
    """The median and the 95th percentile of runs' median answer times, by ``("day", date)`` and ``("workflow", id)``."""
    newest = (
        select(
            func.date(func.timezone(where.key, Run.created_at)).label("day"),
            Run.workflow_id,
            Run.latency["p50_ms"].astext.cast(Integer).label("p50_ms"),
        )
        .where(Run.organization_id == organization_id, Run.created_at >= since, Run.outcome.is_not(None))
        .order_by(Run.created_at.desc())
        .limit(MOST_TIMED)
        .subquery()
    )
    columns = newest.c

    def share(of: float) -> Any:
        return func.percentile_cont(of).within_group(columns.p50_ms.cast(Float))

    found: dict[tuple[str, Any], Any] = defaultdict(lambda: None)
    for kind, column in (("day", columns.day), ("workflow", columns.workflow_id)):
        rows = await session.execute(
            select(column.label("key"), share(0.5).label("p50"), share(0.95).label("p95"))
            .where(columns.p50_ms.is_not(None))
            .group_by(column)
        )
        found |= {(kind, row.key): row for row in rows}
    return found
