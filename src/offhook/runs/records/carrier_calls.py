"""Runs as carriers know them: by an address of ours, or by the carrier's own id of the call."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import costs
from offhook.runs.records import event_store
from offhook.runs.records.answered_by import ANSWERED, ANSWERED_BY, MACHINE, VOICEMAIL
from offhook.runs.states import FINAL_STATES, IN_PROGRESS, LIVE_STATES
from offhook.runs.tables import Run
from offhook.usage import service as usage_service


async def run_for_callback(session: AsyncSession, run_id: int, mode: str) -> Run | None:
    """Without an organization on purpose: a carrier's callback names the run, and its signature is checked next."""
    found = await session.execute(
        select(Run).where(Run.id == run_id, Run.mode == mode).execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def run_by_call_id(
    session: AsyncSession, organization_id: int, mode: str, call_id: str, *, workflow_id: int | None = None
) -> Run | None:
    query = select(Run).where(Run.organization_id == organization_id, Run.mode == mode, Run.call_id == call_id)
    if workflow_id is not None:
        query = query.where(Run.workflow_id == workflow_id)
    found = await session.execute(query.order_by(Run.id).limit(1).execution_options(populate_existing=True))
    return found.scalar_one_or_none()


async def call_ids_of_other_runs(session: AsyncSession, mode: str, call_ids: Collection[str], *, but: int) -> set[str]:
    """Those of these calls that other runs have. Without an organization on purpose: several may share an account at a
    carrier, and nothing is said of whose they are."""
    found = await session.scalars(select(Run.call_id).where(Run.mode == mode, Run.call_id.in_(call_ids), Run.id != but))
    return {call_id for call_id in found if call_id is not None}


async def lock_call(session: AsyncSession, mode: str, call_id: str) -> None:
    """Nobody else makes a run of this call until this transaction ends."""
    key = f"offhook.inbound:{mode}:{call_id}"
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": key})


async def record_human_answer(session: AsyncSession, organization_id: int, run_id: int) -> None:
    """The carrier heard a person."""
    await merge_gathered_context(session, organization_id, run_id, {ANSWERED_BY: "human"})


async def merge_gathered_context(
    session: AsyncSession, organization_id: int, run_id: int, values: Mapping[str, Any]
) -> None:
    """Add to what is known of the conversation."""
    await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .values(gathered_context=Run.gathered_context.concat(event_store.to_storable_json(dict(values))))
        .execution_options(synchronize_session=False)
    )


async def record_machine_answer(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """The carrier heard an answering machine: the call is a voicemail, also when the verdict comes after its end.

    Whether it was over and counted as answered until now.
    """
    await merge_gathered_context(session, organization_id, run_id, {ANSWERED_BY: MACHINE})
    changed = await session.execute(
        update(Run)
        .where(
            Run.id == run_id,
            Run.organization_id == organization_id,
            Run.status.in_(sorted(FINAL_STATES)),
            Run.outcome == ANSWERED,
        )
        .values(outcome=VOICEMAIL)
        .returning(Run)
        .execution_options(populate_existing=True, synchronize_session=False)
    )
    run = changed.scalar_one_or_none()
    if run is not None and await usage_service.is_counted(session, organization_id, run_id):
        await costs.charge_run(session, run)
    return run is not None


async def calls_without_media(
    session: AsyncSession, modes: list[str], now: datetime, *, answered_s: float, inbound_s: float, limit: int = 100
) -> list[tuple[str, int, int]]:
    """(mode, organization, run) of calls that a carrier has connected, or was told to, and whose media never came."""
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
