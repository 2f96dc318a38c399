"""Counts how a campaign's contacts ended over time, and with which results, in as many steps as fit a chart."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.reports.result_queries import count_results_by_step
from offhook.campaigns.schemas import TimelineResponse, TimelineStep

MAX_STEPS: Final = 60
# Steps that people can read off a clock or a calendar.
STEPS_S: Final = (10, 60, 300, 900, 1800, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600)


def choose_step(seconds: float) -> int:
    """Returns the shortest step that cuts the seconds into at most :data:`MAX_STEPS`; a week when none does."""
    return next((step for step in STEPS_S if seconds / step < MAX_STEPS - 1), STEPS_S[-1])


async def load_timeline(session: AsyncSession, organization_id: int, campaign_id: int) -> TimelineResponse:
    """Returns the contacts that were done by step and outcome; the caller has checked that the campaign exists."""
    first, last = await repository.first_and_last_done(session, organization_id, campaign_id)
    step_s = choose_step((last - first).total_seconds()) if first and last else STEPS_S[0]
    steps: dict[int, dict[str, int]] = defaultdict(dict)
    results: dict[int, dict[str, int]] = defaultdict(dict)
    if first is not None:
        for row in await repository.count_done_by_step(session, organization_id, campaign_id, step_s):
            steps[row.step][row.outcome or "failed"] = row.number
        for row in await count_results_by_step(session, organization_id, campaign_id, step_s):
            results[row.step][row.result] = row.number
    return TimelineResponse(
        campaign_id=campaign_id,
        step_seconds=step_s,
        steps=[
            TimelineStep(
                from_time=datetime.fromtimestamp(step * step_s, UTC), outcomes=outcomes, results=results.get(step, {})
            )
            for step, outcomes in sorted(steps.items())
        ],
    )
