"""Insights over the last days, by day and by agent: outcomes, results, minutes, cost and response time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypedDict

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.lists.insight_queries import answer_times_by_agent, answer_times_by_day
from offhook.runs.lists.result_queries import count_results_by_agent, count_results_by_day
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
    results = _sum_results(await count_results_by_day(session, organization_id, boundaries))
    return InsightsResponse(
        days=[
            DayInsight(
                date=day,
                **_insight_totals(sums.get(number), outcomes.get(number, {}), times.get(number)),
                **results.get(number, _no_results()),
            )
            for number, day in enumerate(days)
        ],
        agents=await _load_agents(session, organization_id, boundaries[0]),
    )


async def _load_agents(session: AsyncSession, organization_id: int, since: datetime) -> list[AgentInsight]:
    rows = await usage.by_agent(session, organization_id, since.astimezone(UTC).date(), MAX_AGENTS)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in rows})
    times = await answer_times_by_agent(session, organization_id, list(names), since)
    results = _sum_results(await count_results_by_agent(session, organization_id, since))
    return [
        AgentInsight(
            workflow_id=row.workflow_id,
            workflow_name=names[row.workflow_id],
            **_insight_totals(row, usage.sort_by_frequency(row.outcomes), times.get(row.workflow_id)),
            **results.get(row.workflow_id, _no_results()),
        )
        for row in rows
        if row.workflow_id in names
    ]


class _ResultTotals(TypedDict):
    results: dict[str, int]
    success_count: int
    judged_count: int


def _no_results() -> _ResultTotals:
    return {"results": {}, "success_count": 0, "judged_count": 0}


def _sum_results(rows: Sequence[Any]) -> dict[int, _ResultTotals]:
    """Sums (key, result, is_success, number) by key."""
    totals: dict[int, _ResultTotals] = defaultdict(_no_results)
    for row in rows:
        total = totals[row.key]
        if row.result is not None:
            total["results"][row.result] = total["results"].get(row.result, 0) + row.number
        if row.is_success is not None:
            total["judged_count"] += row.number
            total["success_count"] += row.number if row.is_success else 0
    for total in totals.values():
        total["results"] = usage.sort_by_frequency(total["results"])
    return dict(totals)


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
