"""How conversations went over the last days, by day and by agent: outcomes, minutes, cost and answer time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Float,
    Integer,
    Select,
    bindparam,
    func,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.tables import Run
from offhook.usage import service as usage
from offhook.usage.periods import day_boundaries, last_days, load_time_zone
from offhook.workflows import service as workflows

MAX_DAYS: Final = 92
MAX_AGENTS: Final = 20
# Answer times are those of so many of the newest runs of each day and of each agent.
SAMPLE_SIZE: Final = 100

_MOMENTS: Final = ARRAY(DateTime(timezone=True))


async def load_insights(session: AsyncSession, organization_id: int, now: datetime, count: int) -> dict[str, Any]:
    """``{days, agents}`` of finished runs; days by the organization's clocks, the oldest first, empty ones included.

    Agents are the busiest ones, from the UTC day on in which the first of these days begins.
    """
    where = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    days = last_days(now, count, where)
    between = day_boundaries(days, where)
    sums, outcomes = await usage.by_day(session, organization_id, between)
    times = await _day_times(session, organization_id, between)
    return {
        "days": [
            _present_insight(sums.get(number), outcomes.get(number, {}), times.get(number)) | {"date": day}
            for number, day in enumerate(days)
        ],
        "agents": await _load_agents(session, organization_id, between[0]),
    }


async def _load_agents(session: AsyncSession, organization_id: int, since: datetime) -> list[dict[str, Any]]:
    rows = await usage.by_agent(session, organization_id, since.astimezone(UTC).date(), MAX_AGENTS)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in rows})
    times = await _agent_times(session, organization_id, list(names), since)
    return [
        _present_insight(row, usage.sort_by_frequency(row.outcomes), times.get(row.workflow_id))
        | {"workflow_id": row.workflow_id, "workflow_name": names[row.workflow_id]}
        for row in rows
        if row.workflow_id in names
    ]


def _present_insight(sums: Any, outcomes: dict[str, int], times: Any) -> dict[str, Any]:
    return {
        "call_count": 0 if sums is None else int(sums.calls),
        "total_minutes": 0.0 if sums is None else round(int(sums.duration_ms) / 60_000, 2),
        "total_cost_cents": 0 if sums is None else int(sums.cost_cents),
        "outcomes": outcomes,
        "p50_ms": None if times is None else round(times.p50),
        "p95_ms": None if times is None else round(times.p95),
    }


_DAYS: Final = (
    func.unnest(bindparam("starts", type_=_MOMENTS), bindparam("ends", type_=_MOMENTS))
    .table_valued("since", "until", with_ordinality="number")
    .render_derived("days")
)
_AGENTS: Final = (
    func.unnest(bindparam("workflow_ids", type_=ARRAY(BigInteger))).table_valued("id").render_derived("agents")
)


def _answer_times_query(groups: Any, key: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Select[Any]:
    """``key``, and the median and the 95th percentile of the median answer times of its newest runs. Made once: building
    such a statement takes longer than sending it."""
    newest = (
        select(Run.answer_ms.cast(Float))
        .where(Run.organization_id == bindparam("organization_id", type_=Integer), *conditions)
        .where(Run.outcome.is_not(None), Run.duration > 0)
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(SAMPLE_SIZE)
        .correlate(groups)
        .lateral("sampled")
    )
    answer_ms = newest.c.answer_ms
    return (
        select(
            key.label("key"),
            func.percentile_cont(0.5).within_group(answer_ms).label("p50"),
            func.percentile_cont(0.95).within_group(answer_ms).label("p95"),
        )
        .select_from(groups)
        .join(newest, true())
        .where(answer_ms.is_not(None))
        .group_by(key)
    )


_DAY_TIMES: Final = _answer_times_query(
    _DAYS, _DAYS.c.number, Run.created_at >= _DAYS.c.since, Run.created_at < _DAYS.c.until
)
_AGENT_TIMES: Final = _answer_times_query(
    _AGENTS,
    _AGENTS.c.id,
    Run.workflow_id == _AGENTS.c.id,
    Run.created_at >= bindparam("since", type_=DateTime(timezone=True)),
)


async def _day_times(session: AsyncSession, organization_id: int, between: Sequence[datetime]) -> dict[int, Any]:
    """``(p50, p95)`` by the number of the day."""
    days = {"organization_id": organization_id, "starts": between[:-1], "ends": between[1:]}
    return {row.key - 1: row for row in await session.execute(_DAY_TIMES, days)}


async def _agent_times(
    session: AsyncSession, organization_id: int, workflow_ids: Sequence[int], since: datetime
) -> dict[int, Any]:
    """The same by agent."""
    agents = {"organization_id": organization_id, "workflow_ids": workflow_ids, "since": since}
    return {row.key: row for row in await session.execute(_AGENT_TIMES, agents)}
