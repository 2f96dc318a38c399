"""Answer times of an organization's recorded calls: counts them once for each call, and reads their percentiles."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.runs.strips import answer_queries
from offhook.runs.strips.answer_histograms import count_silences, estimate_percentile
from offhook.runs.strips.answer_queries import AnswerCounts, AnswerPeriod, GroupBy
from offhook.runs.strips.repository import MeasuredRun
from offhook.runs.strips.schemas import AnswerTimeFigures, AnswerTimeGroup, AnswerTimeStatistics
from offhook.usage.periods import last_days, load_time_zone
from offhook.workflows import service as workflows

# Of agents, models and carriers; each day of the period is a group.
MAX_GROUPS: Final = 50
_PERCENTILES: Final = {"p50_ms": 0.5, "p90_ms": 0.9, "p95_ms": 0.95, "p99_ms": 0.99}


async def add_answers(
    session: AsyncSession, organization_id: int, run: MeasuredRun, silences_ms: Sequence[int]
) -> None:
    """Counts the silences of one call. Call it once for each, in the transaction that stores its strip."""
    zone = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    row = {
        "day": run.created_at.astimezone(zone).date(),
        "workflow_id": run.workflow_id,
        "model": find_answering_model(run.usage),
        "carrier": run.mode,
        "calls": 1,
        "turns": len(silences_ms),
        "counts": count_silences(silences_ms),
    }
    await answer_queries.add_to_histogram(session, organization_id, row)


def find_answering_model(usage: Mapping[str, Any]) -> str:
    """Returns ``vendor/model`` of the language model with the most requests in a run's ``usage``, the earlier one of
    two; empty without one. Requests after the call (summaries, reviews) come last there."""
    used = usage.get("llm") or ()
    if not used:
        return ""
    most = max(used, key=lambda entry: entry.get("calls") or 0)
    return f"{str(most['provider'])[:32]}/{str(most['model'])[:64]}"


async def load_statistics(
    session: AsyncSession, organization_id: int, now: datetime, days: int, group_by: GroupBy, workflow_id: int | None
) -> AnswerTimeStatistics:
    """Returns percentiles of the last days in the organization's time zone: by day, oldest first and with those that
    have none, or by what had the most turns."""
    zone = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    dates = last_days(now, days, zone)
    period = AnswerPeriod(dates[0], dates[-1], workflow_id)
    limit = len(dates) if group_by == "day" else MAX_GROUPS
    total, found = await answer_queries.group_answers(session, organization_id, period, group_by, limit)
    names: Mapping[int, str] = {}
    if group_by == "agent":
        names = await workflows.names_of(session, organization_id, {group.key for group in found})
    elif group_by == "day":
        by_day = {group.key: group for group in found}
        found = [by_day.get(day, AnswerCounts(day, 0, 0, {})) for day in dates]
    return AnswerTimeStatistics(
        group_by=group_by,
        total=AnswerTimeFigures(**_figures_of(total)),
        groups=[
            AnswerTimeGroup(
                key=str(group.key),
                workflow_name=names.get(group.key) if group_by == "agent" else None,
                **_figures_of(group),
            )
            for group in found
        ],
    )


def _figures_of(group: AnswerCounts) -> Mapping[str, Any]:
    percentiles = {name: estimate_percentile(group.by_bucket, share) for name, share in _PERCENTILES.items()}
    return {"call_count": group.calls, "turn_count": group.turns, **percentiles}
