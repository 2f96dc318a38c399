"""Queries for results of runs: of one campaign, by day, by agent and by name."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, DateTime, Select, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.data_keys.sealed_rows import open_row
from offhook.runs.tables import Run, RunAnalysis


async def load_summaries(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, str]:
    """Returns the summaries that were written after these calls, by run. Those that cannot be decrypted are left out."""
    rows = await session.scalars(
        select(RunAnalysis).where(RunAnalysis.organization_id == organization_id, RunAnalysis.run_id.in_(run_ids))
    )
    opened = {row.run_id: (await open_row(session, row, is_lenient=True))["summary"] for row in rows}
    return {run_id: summary for run_id, summary in opened.items() if summary}


def campaign_results(organization_id: int, campaign_id: int) -> Select[int, str | None, bool | None]:
    """Selects (id, result, is_success) of a campaign's runs with a result, from one index."""
    return select(Run.id, Run.result, Run.is_success).where(
        Run.organization_id == organization_id, Run.campaign_id == campaign_id, Run.result.is_not(None)
    )


async def load_results(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, Any]:
    """Returns (id, result, is_success) by run."""
    rows = await session.execute(
        select(Run.id, Run.result, Run.is_success).where(Run.organization_id == organization_id, Run.id.in_(run_ids))
    )
    return {row.id: row for row in rows}


async def count_results_by_day(
    session: AsyncSession, organization_id: int, boundaries: Sequence[datetime]
) -> Sequence[Any]:
    """Returns (key, result, is_success, number) of runs that have either; the key is the day's number between these times."""
    moments = literal(list(boundaries), ARRAY(DateTime(timezone=True)))
    day = (func.width_bucket(Run.created_at, moments) - 1).label("key")
    rows = await session.execute(
        select(day, Run.result, Run.is_success, func.count().label("number"))
        .where(
            Run.organization_id == organization_id,
            Run.created_at >= boundaries[0],
            Run.created_at < boundaries[-1],
            Run.result.is_not(None) | Run.is_success.is_not(None),
        )
        .group_by(day, Run.result, Run.is_success)
    )
    return rows.all()


async def count_results_by_agent(session: AsyncSession, organization_id: int, since: datetime) -> Sequence[Any]:
    """Returns (key: the agent, result, is_success, number) of runs since then that have either."""
    rows = await session.execute(
        select(Run.workflow_id.label("key"), Run.result, Run.is_success, func.count().label("number"))
        .where(
            Run.organization_id == organization_id,
            Run.created_at >= since,
            Run.result.is_not(None) | Run.is_success.is_not(None),
        )
        .group_by(Run.workflow_id, Run.result, Run.is_success)
    )
    return rows.all()
