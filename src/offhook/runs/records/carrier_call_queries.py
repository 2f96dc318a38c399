"""Queries for runs as carriers identify them: by a URL of ours, or by the carrier's own call id."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import IN_PROGRESS, LIVE_STATES
from offhook.runs.tables import Run


async def run_for_callback(session: AsyncSession, run_id: int, mode: str) -> Run | None:
    """Returns the run that a carrier's callback names, in any organization; its signature is checked next."""
    found = await session.execute(
        select(Run).where(Run.id == run_id, Run.mode == mode).execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def run_by_call_id(
    session: AsyncSession, organization_id: int, mode: str, call_id: str, *, workflow_id: int | None = None
) -> Run | None:
    """Returns the oldest run with this carrier call id."""
    query = select(Run).where(Run.organization_id == organization_id, Run.mode == mode, Run.call_id == call_id)
    if workflow_id is not None:
        query = query.where(Run.workflow_id == workflow_id)
    found = await session.execute(query.order_by(Run.id).limit(1).execution_options(populate_existing=True))
    return found.scalar_one_or_none()


async def organizations_with_call(session: AsyncSession, mode: str, call_id: str) -> Sequence[int]:
    """Returns the organizations that have a run with this carrier call id: organizations may share a carrier account."""
    found = await session.scalars(
        select(Run.organization_id).where(Run.mode == mode, Run.call_id == call_id).distinct().limit(100)
    )
    return found.all()


async def call_ids_of_other_runs(
    session: AsyncSession, mode: str, call_ids: Collection[str], *, except_run_id: int
) -> set[str]:
    """Returns the call ids that belong to other runs of any organization: organizations may share a carrier account."""
    found = await session.scalars(
        select(Run.call_id).where(Run.mode == mode, Run.call_id.in_(call_ids), Run.id != except_run_id)
    )
    return {call_id for call_id in found if call_id is not None}


async def is_call_of_other_run(session: AsyncSession, run: Run, call_id: str) -> bool:
    """Returns whether the call is another run's of the same organization and carrier. Until the transaction ends, no
    other report can bind it."""
    await lock_call(session, run.mode, call_id)
    found = await session.scalar(
        select(Run.id).where(
            Run.call_id == call_id,
            Run.mode == run.mode,
            Run.organization_id == run.organization_id,
            Run.id != run.id,
        )
    )
    return found is not None


async def lock_call(session: AsyncSession, mode: str, call_id: str) -> None:
    """Prevents other transactions from creating a run for this call until this one ends."""
    key = f"offhook.inbound:{mode}:{call_id}"
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": key})


async def calls_without_media(
    session: AsyncSession, modes: list[str], now: datetime, *, answered_s: float, inbound_s: float, limit: int = 100
) -> list[tuple[str, int, int]]:
    """Returns (mode, organization, run) of calls without media that a carrier connected, or was asked to connect."""
    answered = (Run.status == IN_PROGRESS) & (Run.answered_at < now - timedelta(seconds=answered_s))
    taken = (Run.direction == "inbound") & (Run.created_at < now - timedelta(seconds=inbound_s))
    found = await session.execute(
        select(Run.mode, Run.organization_id, Run.id)
        .where(Run.status.in_(sorted(LIVE_STATES)), Run.mode.in_(modes))
        .where(Run.worker_id.is_(None), Run.lease_until.is_(None), Run.call_id.is_not(None))
        .where(or_(answered, taken))
        .order_by(func.coalesce(Run.answered_at, Run.created_at))
        .limit(limit)
    )
    return [(row.mode, row.organization_id, row.id) for row in found]
