"""The compare-and-swap that moves runs through their states, for as many at once as have news."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    DateTime,
    Integer,
    Numeric,
    Text,
    bindparam,
    case,
    cast,
    column,
    func,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.records import answered_by
from offhook.runs.states import IN_PROGRESS, INITIATED, OUTCOME_OF, RINGING
from offhook.runs.tables import Run


@dataclass(frozen=True, slots=True)
class StatusChange:
    """News of a run: ``status``, and what else is known; ``at`` is when it happened."""

    organization_id: int
    run_id: int
    status: str
    at: datetime
    outcome: str | None = None
    end_reason: str | None = None
    call_id: str | None = None


# How far a live run has come, and what each status needs of it: any target but a state before it, or the same.
_STEP: Final = {state: step for step, state in enumerate((INITIATED, RINGING, IN_PROGRESS))}
_changes = (
    func.unnest(
        *(
            bindparam(name, type_=ARRAY(kind))
            for name, kind in (
                ("organization_ids", BigInteger()),
                ("run_ids", BigInteger()),
                ("statuses", Text()),
                ("steps", Integer()),
                ("at", DateTime(timezone=True)),
                ("outcomes", Text()),
                ("fallbacks", Text()),
                ("end_reasons", Text()),
                ("call_ids", Text()),
            )
        )
    )
    .table_valued(
        column("organization_id", Integer()),
        column("run_id", BigInteger()),
        column("status", Text()),
        column("step", Integer()),
        column("at", DateTime(timezone=True)),
        column("outcome", Text()),
        column("fallback", Text()),
        column("end_reason", Text()),
        column("call_id", Text()),
    )
    .render_derived("news")
)
_current_step = case(_STEP, value=Run.status, else_=len(_STEP))
_candidates = select(Run.id).where(
    Run.id == _changes.c.run_id, Run.organization_id == _changes.c.organization_id, _current_step < _changes.c.step
)
# Locked in one order first, so that two who bring news of the same runs never wait for each other crosswise.
_locked = _candidates.order_by(Run.id).with_for_update(of=Run, key_share=True).cte("locked")
_is_final = _changes.c.step == len(_STEP)
_has_no_worker = Run.worker_id.is_(None)
_elapsed = func.greatest(func.extract("epoch", _changes.c.at - func.coalesce(Run.answered_at, _changes.c.at)), 0)
# What the carrier itself says; its news may come late, and in any order.
_connected = cast(Run.carrier_bill["duration_s"].astext, Numeric(10, 3))
_APPLY_CHANGES: Final = (
    update(Run)
    .where(Run.id == _changes.c.run_id, Run.id.in_(select(_locked.c.id)), _current_step < _changes.c.step)
    .values(
        status=_changes.c.status,
        end_reason=func.coalesce(_changes.c.end_reason, Run.end_reason),
        call_id=func.coalesce(_changes.c.call_id, Run.call_id),
        started_at=func.coalesce(Run.started_at, _changes.c.at),
        outcome=case(
            (_changes.c.outcome.is_not(None), _changes.c.outcome),
            (
                _is_final & _has_no_worker,
                func.coalesce(Run.outcome, answered_by.outcome_or_voicemail(_changes.c.fallback)),
            ),
            else_=Run.outcome,
        ),
        answered_at=case(
            (_changes.c.status == IN_PROGRESS, func.coalesce(Run.answered_at, _changes.c.at)), else_=Run.answered_at
        ),
        ended_at=case((_is_final, _changes.c.at), else_=Run.ended_at),
        duration=case(
            (_is_final & _has_no_worker, func.coalesce(_connected, cast(_elapsed, Numeric(10, 3)))),
            (_is_final, cast(_elapsed, Numeric(10, 3))),
            else_=Run.duration,
        ),
        # the lease of a telephone that rang inside a process ends here; a worker ends that of its call itself
        lease_until=case((_is_final & _has_no_worker, None), else_=Run.lease_until),
    )
    .returning(Run)
    .execution_options(populate_existing=True, synchronize_session=False)
)


async def apply_changes(session: AsyncSession, moves: Sequence[StatusChange]) -> dict[int, Run]:
    """Compare-and-swap each run to its status; those that moved, by id, as they are now. No run may be named twice.

    While a live call carries a run, its outcome is left to that call unless it is given here.
    """
    moved = await session.scalars(
        _APPLY_CHANGES,
        {
            "organization_ids": [move.organization_id for move in moves],
            "run_ids": [move.run_id for move in moves],
            "statuses": [move.status for move in moves],
            "steps": [_STEP.get(move.status, len(_STEP)) for move in moves],
            "at": [move.at for move in moves],
            "outcomes": [move.outcome for move in moves],
            "fallbacks": [OUTCOME_OF.get(move.status) for move in moves],
            "end_reasons": [move.end_reason for move in moves],
            "call_ids": [move.call_id for move in moves],
        },
    )
    return {run.id: run for run in moved}
