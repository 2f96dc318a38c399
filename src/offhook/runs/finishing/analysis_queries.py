"""Queries for results, summaries and success criteria of finished runs."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.data_keys.sealed_rows import open_row
from offhook.runs.tables import Run, RunAnalysis, RunEvent
from offhook.voice.events import EDGE_TAKEN, NODE_ENTERED


async def read_route(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> Sequence[Any]:
    """Returns (run_id, type, data) of the nodes that these runs visited and the edges that they took."""
    rows = await session.execute(
        select(RunEvent.run_id, RunEvent.type, RunEvent.data).where(
            RunEvent.organization_id == organization_id,
            RunEvent.run_id.in_(run_ids),
            RunEvent.type.in_([NODE_ENTERED, EDGE_TAKEN]),
        )
    )
    return rows.all()


async def insert_analysis_once(session: AsyncSession, run: Run) -> bool:
    """Inserts a pending analysis; returns False if the run has one."""
    added = await session.scalar(
        insert(RunAnalysis)
        .values(run_id=run.id, organization_id=run.organization_id)
        .on_conflict_do_nothing()
        .returning(RunAnalysis.run_id)
    )
    return added is not None


async def lock_analysis(session: AsyncSession, organization_id: int, run_id: int) -> RunAnalysis | None:
    """Returns the run's analysis, locked until the transaction ends."""
    return await session.scalar(
        select(RunAnalysis)
        .where(RunAnalysis.run_id == run_id, RunAnalysis.organization_id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )


async def read_analysis(session: AsyncSession, organization_id: int, run_id: int) -> dict[str, Any] | None:
    """Returns the run's analysis as it is shown; None if its agent has no summary and no criteria. Raises WordsUnreadable
    (409)."""
    row = await session.scalar(
        select(RunAnalysis).where(RunAnalysis.run_id == run_id, RunAnalysis.organization_id == organization_id)
    )
    if row is None:
        return None
    facts = {name: getattr(row, name) for name in ("status", "judged_by", "model", "error")}
    return {**facts, **await open_row(session, row)}
