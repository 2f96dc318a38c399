"""How conversations went over the last days, by day and by agent: outcomes, minutes, cost and answer time."""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.lists.insight_queries import answer_times_by_agent, answer_times_by_day
from offhook.usage import service as usage
from offhook.usage.periods import day_boundaries, last_days, load_time_zone
from offhook.workflows import service as workflows

MAX_DAYS: Final = 92
MAX_AGENTS: Final = 20


async def load_insights(session: AsyncSession, organization_id: int, now: datetime, count: int) -> dict[str, Any]:
    """``{days, agents}`` of finished runs; days by the organization's clocks, the oldest first, empty ones included.

    Agents are the busiest ones, from the UTC day on in which the first of these days begins.
    """
    where = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    days = last_days(now, count, where)
    between = day_boundaries(days, where)
    sums, outcomes = await usage.by_day(session, organization_id, between)
    times = await answer_times_by_day(session, organization_id, between)
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
    times = await answer_times_by_agent(session, organization_id, list(names), since)
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
