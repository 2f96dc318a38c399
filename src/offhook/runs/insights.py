"""How conversations went over the last days, by day and by agent: outcomes, minutes, cost and answer time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    DateTime,
    Float,
    Select,
    func,
    literal,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.tables import Run
from offhook.usage import service as usage
from offhook.usage.periods import boundaries, last_days, zone
from offhook.workflows import service as workflows

MAX_DAYS: Final = 92
MOST_AGENTS: Final = 20
# Answer times are those of so many of the newest runs of each day and of each agent.
SAMPLE: Final = 100


async def insights(session: AsyncSession, organization_id: int, now: datetime, count: int) -> dict[str, Any]:
    """``{days, agents}`` of finished runs; days by the organisation's clocks, the oldest first, empty ones included.

    Agents are the busiest ones, from the UTC day on in which the first of these days begins.
    """
    where = zone((await orgs.organization(session, organization_id)).time_zone)
    days = last_days(now, count, where)
    between = boundaries(days, where)
    sums, outcomes = await usage.by_day(session, organization_id, between)
    times = await _day_times(session, organization_id, between)
    return {
        "days": [
            _shown(sums.get(number), outcomes.get(number, {}), times.get(number)) | {"date": day}
            for number, day in enumerate(days)
        ],
        "agents": await _agents(session, organization_id, between[0]),
    }


async def _agents(session: AsyncSession, organization_id: int, since: datetime) -> list[dict[str, Any]]:
    rows = await usage.by_agent(session, organization_id, since.astimezone(UTC).date(), MOST_AGENTS)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in rows})
    times = await _agent_times(session, organization_id, list(names), since)
    return [
        _shown(row, usage.ordered(row.outcomes), times.get(row.workflow_id))
        | {"workflow_id": row.workflow_id, "workflow_name": names[row.workflow_id]}
        for row in rows
        if row.workflow_id in names
    ]


def _shown(sums: Any, outcomes: dict[str, int], times: Any) -> dict[str, Any]:
    return {
        "call_count": 0 if sums is None else int(sums.calls),
        "total_minutes": 0.0 if sums is None else round(int(sums.duration_ms) / 60_000, 2),
        "total_cost_cents": 0 if sums is None else int(sums.cost_cents),
        "outcomes": outcomes,
        "p50_ms": None if times is None else round(times.p50),
        "p95_ms": None if times is None else round(times.p95),
    }


async def _day_times(session: AsyncSession, organization_id: int, between: Sequence[datetime]) -> dict[int, Any]:
    """``(p50, p95)`` by the number of the day."""
    moments = ARRAY(DateTime(timezone=True))
    days = (
        func.unnest(literal(list(between[:-1]), moments), literal(list(between[1:]), moments))
        .table_valued("since", "until", with_ordinality="number")
        .render_derived("days")
    )
    newest = _newest(days, organization_id, [Run.created_at >= days.c.since, Run.created_at < days.c.until])
    return {key - 1: times for key, times in (await _times(session, days, days.c.number, newest)).items()}


async def _agent_times(
    session: AsyncSession, organization_id: int, workflow_ids: Sequence[int], since: datetime
) -> dict[int, Any]:
    """The same by agent."""
    agents = func.unnest(literal(list(workflow_ids), ARRAY(BigInteger))).table_valued("id").render_derived("agents")
    newest = _newest(agents, organization_id, [Run.workflow_id == agents.c.id, Run.created_at >= since])
    return await _times(session, agents, agents.c.id, newest)


def _newest(groups: Any, organization_id: int, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    return (
        select(Run.answer_ms)
        .where(Run.organization_id == organization_id, *conditions, Run.outcome.is_not(None), Run.duration > 0)
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(SAMPLE)
        .correlate(groups)
    )


async def _times(session: AsyncSession, groups: Any, key: ColumnElement[Any], newest: Select[Any]) -> dict[int, Any]:
    """The median and the 95th percentile of these runs' median answer times."""
    sampled = newest.lateral("sampled")
    answer_ms = sampled.c.answer_ms.cast(Float)
    rows = await session.execute(
        select(
            key.label("key"),
            *(
                func.percentile_cont(share).within_group(answer_ms).label(name)
                for name, share in (("p50", 0.5), ("p95", 0.95))
            ),
        )
        .select_from(groups)
        .join(sampled, true())
        .where(answer_ms.is_not(None))
        .group_by(key)
    )
    return {int(row.key): row for row in rows}
