"""What finished runs came to, for comparing versions of an agent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.artifacts.links import BROWSER
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.finishing.human_request_detection import HUMAN_REQUESTED
from offhook.runs.records.answered_by import VOICEMAIL
from offhook.runs.states import COMPLETED, FAILED, FINAL_STATES, TEXT_CHAT
from offhook.runs.tables import Run, RunAnalysis, RunEvent

_COMPLAINTS: Final = (DO_NOT_CALL_REQUESTED, HUMAN_REQUESTED)
_TESTS: Final = (BROWSER, TEXT_CHAT)


def _measures(*conditions: ColumnElement[bool], judged_since: datetime) -> Select[*tuple[Any, ...]]:
    is_waiting = exists().where(
        RunAnalysis.run_id == Run.id,
        RunAnalysis.organization_id == Run.organization_id,
        RunAnalysis.status == "pending",
        RunAnalysis.created_at > judged_since,
    )
    has_complained = exists().where(
        RunEvent.run_id == Run.id, RunEvent.organization_id == Run.organization_id, RunEvent.type.in_(_COMPLAINTS)
    )
    is_over = and_(Run.status.in_(FINAL_STATES), Run.lease_until.is_(None), ~is_waiting)
    far_end = case((Run.direction == "inbound", Run.caller_number), else_=Run.called_number)
    return select(
        Run.id,
        Run.ended_at,
        func.coalesce(far_end, Run.phone_number).label("number"),
        is_over.label("is_over"),
        and_(Run.answered_at.is_not(None), Run.outcome.is_distinct_from(VOICEMAIL)).label("has_conversation"),
        Run.is_success.is_(True).label("is_success"),
        (Run.status == COMPLETED).label("is_completed"),
        (Run.status == FAILED).label("has_failed"),
        has_complained.label("has_complained"),
        Run.duration.label("seconds"),
        Run.answer_ms,
        Run.cost_cents,
    ).where(*conditions)


async def measure_runs(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int], *, judged_since: datetime
) -> Sequence[Any]:
    """Returns (id, ended_at, number, is_over, has_conversation, is_success, is_completed, has_failed, has_complained, seconds,
    answer_ms, cost_cents). A run is over when nothing about it is still to come; an analysis that has been pending since before
    ``judged_since`` is not waited for."""
    of_runs = (Run.organization_id == organization_id, Run.id.in_(run_ids))
    return (await session.execute(_measures(*of_runs, judged_since=judged_since))).all()


async def measure_earlier_runs(
    session: AsyncSession,
    organization_id: int,
    workflow_id: int,
    version_id: int,
    *,
    since: datetime,
    before: datetime,
    limit: int,
) -> Sequence[Any]:
    """Returns the same of telephone calls that a version held between two times, newest first."""
    query = _measures(
        Run.organization_id == organization_id,
        Run.workflow_id == workflow_id,
        Run.created_at >= since,
        Run.created_at < before,
        Run.version_id == version_id,
        Run.mode.not_in(_TESTS),
        Run.answered_at.is_not(None),
        or_(Run.outcome.is_(None), Run.outcome != VOICEMAIL),
        Run.status.in_(FINAL_STATES),
        Run.lease_until.is_(None),
        judged_since=before,
    )
    newest = query.order_by(Run.created_at.desc(), Run.id.desc()).limit(limit)
    return (await session.execute(newest)).all()
