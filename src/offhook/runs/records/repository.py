"""Queries for runs: states, batches of campaign calls, carrier reports and deletion."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Integer,
    Numeric,
    Text,
    and_,
    bindparam,
    case,
    cast,
    column,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from offhook.kit.json_values import JsonObject
from offhook.runs.records.answered_by import ANSWERED, ANSWERED_BY, MACHINE, VOICEMAIL
from offhook.runs.states import FINAL_STATES, IN_PROGRESS, INITIATED, LIVE_STATES, OUTCOME_OF, RINGING, StatusChange
from offhook.runs.tables import Run, RunEvent


def outcome_or_voicemail(outcome: ColumnElement[Any]) -> ColumnElement[Any]:
    """Builds the outcome for an UPDATE of a run: the carrier's answering machine verdict turns "answered" into a voicemail."""
    by_machine = and_(outcome == ANSWERED, Run.gathered_context[ANSWERED_BY].astext == MACHINE)
    return case((by_machine, VOICEMAIL), else_=outcome)


# Order of a live run's states; a change must lead to a later one.
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
    .render_derived("changes")
)
_current_step = case(_STEP, value=Run.status, else_=len(_STEP))
_candidates = select(Run.id).where(
    Run.id == _changes.c.run_id, Run.organization_id == _changes.c.organization_id, _current_step < _changes.c.step
)
# Locked in a fixed order first, so that two transactions that change the same runs cannot deadlock.
_locked = _candidates.order_by(Run.id).with_for_update(of=Run, key_share=True).cte("locked")
_is_final = _changes.c.step == len(_STEP)
_has_no_worker = Run.worker_id.is_(None)
_elapsed = func.greatest(func.extract("epoch", _changes.c.at - func.coalesce(Run.answered_at, _changes.c.at)), 0)
_other = aliased(Run)
_is_claimed = exists().where(
    _other.call_id == _changes.c.call_id, _other.mode == Run.mode, _other.organization_id == Run.organization_id
)
# Fields that the carrier reports, possibly late and in any order.
_connected = cast(Run.carrier_bill["duration_s"].astext, Numeric(10, 3))
_APPLY_CHANGES: Final = (
    update(Run)
    .where(Run.id == _changes.c.run_id, Run.id.in_(select(_locked.c.id)), _current_step < _changes.c.step)
    .values(
        status=_changes.c.status,
        end_reason=func.coalesce(_changes.c.end_reason, Run.end_reason),
        # A run keeps the call that it has, and takes none that another run has.
        call_id=func.coalesce(Run.call_id, case((_is_claimed, None), else_=_changes.c.call_id)),
        started_at=func.coalesce(Run.started_at, _changes.c.at),
        outcome=case(
            (_changes.c.outcome.is_not(None), _changes.c.outcome),
            (
                _is_final & _has_no_worker,
                func.coalesce(Run.outcome, outcome_or_voicemail(_changes.c.fallback)),
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
        # the lease of a phone that rang inside a process ends here; a worker ends its own call's lease
        lease_until=case((_is_final & _has_no_worker, None), else_=Run.lease_until),
    )
    .returning(Run)
    .execution_options(populate_existing=True, synchronize_session=False)
)


async def apply_status_changes(session: AsyncSession, changes: Sequence[StatusChange]) -> dict[int, Run]:
    """Compare-and-swaps each run to its status and returns the changed runs by id. A run occurs at most once.

    While a live call carries a run, its outcome is left to that call unless it is given here.
    """
    moved = await session.scalars(
        _APPLY_CHANGES,
        {
            "organization_ids": [change.organization_id for change in changes],
            "run_ids": [change.run_id for change in changes],
            "statuses": [change.status for change in changes],
            "steps": [_STEP.get(change.status, len(_STEP)) for change in changes],
            "at": [change.at for change in changes],
            "outcomes": [change.outcome for change in changes],
            "fallbacks": [OUTCOME_OF.get(change.status) for change in changes],
            "end_reasons": [change.end_reason for change in changes],
            "call_ids": [change.call_id for change in changes],
        },
    )
    return {run.id: run for run in moved}


async def insert_runs(session: AsyncSession, organization_id: int, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Inserts runs with one statement and returns their ids in the order of ``rows``."""
    made = await session.execute(
        insert(Run).returning(Run.id, sort_by_parameter_order=True),
        [{"organization_id": organization_id, **row} for row in rows],
    )
    return list(made.scalars())


async def load_run_ends(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> Sequence[Any]:
    """Returns (id, status, outcome, end_reason, is_carried, is_leased) of the runs that still exist."""
    rows = await session.execute(
        select(
            Run.id, Run.status, Run.outcome, Run.end_reason,
            func.coalesce(Run.lease_until > func.now(), False).label("is_carried"),
            Run.lease_until.is_not(None).label("is_leased"),
        ).where(Run.organization_id == organization_id, Run.id.in_(run_ids))
    )  # fmt: skip
    return rows.all()


async def merge_gathered_context(session: AsyncSession, organization_id: int, run_id: int, values: JsonObject) -> None:
    """Adds values to the run's ``gathered_context``."""
    await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .values(gathered_context=Run.gathered_context.concat(values))
        .execution_options(synchronize_session=False)
    )


async def change_answered_to_voicemail(session: AsyncSession, organization_id: int, run_id: int) -> Run | None:
    """Returns the run if it was over and counted as answered until now."""
    changed = await session.execute(
        update(Run)
        .where(
            Run.id == run_id,
            Run.organization_id == organization_id,
            Run.status.in_(sorted(FINAL_STATES)),
            Run.outcome == ANSWERED,
        )
        .values(outcome=VOICEMAIL, result=None, is_success=None)
        .returning(Run)
        .execution_options(populate_existing=True, synchronize_session=False)
    )
    return changed.scalar_one_or_none()


async def has_live_run(session: AsyncSession, organization_id: int, workflow_id: int) -> bool:
    """Returns whether any run of the workflow is not over."""
    found = await session.scalar(
        select(Run.id)
        .where(
            Run.organization_id == organization_id, Run.workflow_id == workflow_id, Run.status.in_(sorted(LIVE_STATES))
        )
        .limit(1)
    )
    return found is not None


async def has_run(session: AsyncSession, organization_id: int, workflow_id: int) -> bool:
    """Returns whether the workflow has any run."""
    found = await session.scalar(
        select(Run.id).where(Run.organization_id == organization_id, Run.workflow_id == workflow_id).limit(1)
    )
    return found is not None


async def lock_run(session: AsyncSession, organization_id: int, run_id: int) -> Run | None:
    """Returns the run as the database has it now; nobody else changes it before this transaction ends."""
    return await session.scalar(
        select(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )


async def count_events(session: AsyncSession, organization_id: int, run_id: int) -> int:
    """Returns how many events the run has."""
    counted = await session.scalar(
        select(func.count())
        .select_from(RunEvent)
        .where(RunEvent.organization_id == organization_id, RunEvent.run_id == run_id)
    )
    return counted or 0


async def find_recording_keys(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int
) -> dict[int, str | None]:
    """Returns recording keys by run id for some of the workflow's runs."""
    rows = await session.execute(
        select(Run.id, Run.recording_key)
        .where(Run.organization_id == organization_id, Run.workflow_id == workflow_id)
        .limit(limit)
    )
    return {row.id: row.recording_key for row in rows}


async def find_recording_keys_of_runs(
    session: AsyncSession, organization_id: int, run_ids: Collection[int]
) -> dict[int, str | None]:
    """Returns recording keys by run id."""
    rows = await session.execute(
        select(Run.id, Run.recording_key).where(Run.organization_id == organization_id, Run.id.in_(run_ids))
    )
    return {row.id: row.recording_key for row in rows}


async def find_ended_runs(
    session: AsyncSession, organization_id: int, run_ids: Collection[int], *, ended_for: timedelta
) -> Sequence[int]:
    """Returns those of the runs that ended at least so long ago."""
    found = await session.scalars(
        select(Run.id).where(
            Run.organization_id == organization_id, Run.id.in_(run_ids), Run.ended_at < func.now() - ended_for
        )
    )
    return found.all()


async def delete_runs(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> None:
    """Deletes runs with everything that belongs to them."""
    await session.execute(delete(Run).where(Run.organization_id == organization_id, Run.id.in_(run_ids)))
