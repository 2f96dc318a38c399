"""Statements that delete what runs left behind, oldest first."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Row, delete, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import (
    NodeWebhookDelivery,
    Run,
    RunAnalysis,
    RunEvent,
    RunJournal,
    RunReview,
    RunStrip,
    RunText,
)
from offhook.voice import events

# What a conversation was like, without its words. Every other event has words, also one that a later version adds.
FACTS: Final = frozenset(
    {
        events.CALL_STARTED, events.NODE_ENTERED, events.EDGE_TAKEN, events.CALLER_STARTED, events.CALLER_STOPPED,
        events.CALLER_NOT_UNDERSTOOD, events.AGENT_PAUSED, events.AGENT_RESUMED, events.RECORDING_MISSING,
        events.RECORDING_STARTED, events.RECORDING_PAUSED, events.RECORDING_RESUMED, events.RECORDING_DISCARDED, events.DISCLOSURE_PLAYED,
        events.DISCLOSURE_MISSED, events.TURN_TIMED,
        events.FAILED_OVER, events.WATCHDOG_ACTED, events.CALLER_IDLE, events.DURATION_WARNED, events.VOICEMAIL_DETECTED,
        events.HELD_TURNS_ANSWERED, events.EARLY_ANSWER, events.CALLER_AUDIO_UNCLEANED, events.PAUSE_JUDGED,
        events.VALUES_LEFT_OUT,
        events.USAGE_COUNTED, events.CALL_ENDED, "status_changed", "status_ignored", "run_swept", "events_dropped",
        "webhook_delivered", "recording_failed", "qa_skipped",
    }
)  # fmt: skip


async def find_oldest_live(session: AsyncSession, organization_id: int, workflow_id: int | None) -> datetime | None:
    """Returns when the oldest run began that is not over, of one agent or of all."""
    is_open = or_(Run.status.in_(sorted(LIVE_STATES)), Run.is_leased)
    return await session.scalar(select(func.min(Run.created_at)).where(*_of(organization_id, workflow_id), is_open))


async def list_runs_between(
    session: AsyncSession,
    organization_id: int,
    workflow_id: int | None,
    after: tuple[datetime, int] | None,
    before: datetime,
    *,
    limit: int,
) -> Sequence[Row[int, datetime]]:
    """Returns id and beginning of runs of one agent or of all, oldest first; ``after`` is the beginning and id of the last
    one."""
    conditions = [*_of(organization_id, workflow_id), Run.created_at < before]
    if after is not None:
        conditions.append(tuple_(Run.created_at, Run.id) > after)
    rows = select(Run.id, Run.created_at).where(*conditions).order_by(Run.created_at, Run.id).limit(limit)
    return (await session.execute(rows)).all()


def _of(organization_id: int, workflow_id: int | None) -> list[ColumnElement[bool]]:
    owner = Run.organization_id == organization_id
    return [owner] if workflow_id is None else [owner, Run.workflow_id == workflow_id]


async def list_runs_of_campaign(
    session: AsyncSession, organization_id: int, campaign_id: int, *, limit: int
) -> Sequence[int]:
    """Returns runs of a campaign that are over, newest first."""
    rows = (
        select(Run.id)
        .where(Run.organization_id == organization_id, Run.campaign_id == campaign_id)
        .where(Run.status.not_in(sorted(LIVE_STATES)), Run.is_leased.is_(False))
        .order_by(Run.id.desc())
        .limit(limit)
    )
    return (await session.scalars(rows)).all()


async def has_live_run_of_campaign(session: AsyncSession, organization_id: int, campaign_id: int) -> bool:
    """Returns whether a call of the campaign is not over."""
    is_open = or_(Run.status.in_(sorted(LIVE_STATES)), Run.is_leased)
    found = await session.scalar(
        select(Run.id).where(Run.organization_id == organization_id, Run.campaign_id == campaign_id, is_open).limit(1)
    )
    return found is not None


async def forget_recordings(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> None:
    """Makes the runs ones that were not recorded."""
    await session.execute(
        update(Run).where(Run.organization_id == organization_id, Run.id.in_(run_ids)).values(recording_key=None)
    )
    await session.execute(
        delete(RunStrip).where(RunStrip.organization_id == organization_id, RunStrip.run_id.in_(run_ids))
    )


async def delete_words(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> int:
    """Deletes what was said and what was made of it, and returns how many events that were. The facts stay, and of the
    words of an answer its times, as ``turn_timed``."""
    timing = RunEvent.data["timing"]
    timed = await session.execute(
        update(RunEvent)
        .where(
            RunEvent.organization_id == organization_id,
            RunEvent.run_id.in_(run_ids),
            RunEvent.type == events.AGENT_SAID,
            func.jsonb_typeof(timing) == "object",
        )
        .values(
            type=events.TURN_TIMED,
            at_ms=func.coalesce(func.round(timing["first_frame"].as_float() * 1000), RunEvent.at_ms),
            data=timing,
            key_number=None,
            sealed=None,
        )
        .returning(RunEvent.seq)
        .execution_options(synchronize_session=False)
    )
    done = await session.execute(
        delete(RunEvent)
        .where(
            RunEvent.organization_id == organization_id,
            RunEvent.run_id.in_(run_ids),
            RunEvent.type.not_in(sorted(FACTS)),
        )
        .returning(RunEvent.seq)
    )
    await session.execute(
        delete(RunText).where(RunText.organization_id == organization_id, RunText.run_id.in_(run_ids))
    )
    for table in (RunAnalysis, RunJournal, RunReview, NodeWebhookDelivery):
        await session.execute(delete(table).where(table.organization_id == organization_id, table.run_id.in_(run_ids)))
    await session.execute(
        update(Run)
        .where(Run.organization_id == organization_id, Run.id.in_(run_ids))
        .values(gathered_context={}, chat_state=None, chat_key_number=None, sealed_chat=None)
    )
    return len(done.all()) + len(timed.all())
