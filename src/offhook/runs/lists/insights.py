"""Insights over the last days, by day and by agent: outcomes, minutes, cost and response time."""

from datetime import UTC, datetime
from typing import Any, Final, TypedDict

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.lists.insight_queries import answer_times_by_agent, answer_times_by_day
from offhook.runs.schemas import AgentInsight, DayInsight, InsightsResponse
from offhook.usage import service as usage
from offhook.usage.periods import day_boundaries, last_days, load_time_zone
from offhook.workflows import service as workflows

MAX_DAYS: Final = 92
MAX_AGENTS: Final = 20


async def load_insights(session: AsyncSession, organization_id: int, now: datetime, count: int) -> InsightsResponse:
    """Returns totals of finished runs by day in the organization's time zone, oldest first, and by the busiest agents.

    Agents count from the UTC day in which the first of these days begins.
    """
    zone = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    days = last_days(now, count, zone)
    boundaries = day_boundaries(days, zone)
    sums, outcomes = await usage.by_day(session, organization_id, boundaries)
    times = await answer_times_by_day(session, organization_id, boundaries)
    return InsightsResponse(
        days=[
            DayInsight(date=day, **_insight_totals(sums.get(number), outcomes.get(number, {}), times.get(number)))
            for number, day in enumerate(days)
        ],
        agents=await _load_agents(session, organization_id, boundaries[0]),
    )


async def _load_agents(session: AsyncSession, organization_id: int, since: datetime) -> list[AgentInsight]:
    rows = await usage.by_agent(session, organization_id, since.astimezone(UTC).date(), MAX_AGENTS)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in rows})
    times = await answer_times_by_agent(session, organization_id, list(names), since)
    return [
        AgentInsight(
            workflow_id=row.workflow_id,
            workflow_name=names[row.workflow_id],
            **_insight_totals(row, usage.sort_by_frequency(row.outcomes), times.get(row.workflow_id)),
        )
        for row in rows
        if row.workflow_id in names
    ]


class _InsightTotals(TypedDict):
    call_count: int
    total_minutes: float
    total_cost_cents: int
    outcomes: dict[str, int]
    p50_ms: int | None
    p95_ms: int | None


def _insight_totals(sums: Any, outcomes: dict[str, int], times: Any) -> _InsightTotals:
    return {
        "call_count": 0 if sums is None else int(sums.calls),
        "total_minutes": 0.0 if sums is None else round(int(sums.duration_ms) / 60_000, 2),
        "total_cost_cents": 0 if sums is None else int(sums.cost_cents),
        "outcomes": outcomes,
        "p50_ms": None if times is None else round(times.p50),
        "p95_ms": None if times is None else round(times.p95),
    }
