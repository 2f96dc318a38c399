"""Queries for the states of live calls, and for calls that pass from one process to another."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, extract, func, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, LargeBinary

from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import LiveCallState, Run

# Only of calls that this process still carries: one whose call was taken over changes nothing.
_WRITE: Final = text(
    """
INSERT INTO call_states AS kept (run_id, organization_id, sealed)
SELECT runs.id, runs.organization_id, new.sealed
FROM unnest(:run_ids, :states) AS new(run_id, sealed)
JOIN runs ON runs.id = new.run_id AND runs.worker_id = :worker_id AND runs.lease_until IS NOT NULL
ORDER BY runs.id
ON CONFLICT (run_id) DO UPDATE SET sealed = excluded.sealed, updated_at = now() WHERE NOT kept.is_over
"""
).bindparams(bindparam("run_ids", type_=ARRAY(BigInteger)), bindparam("states", type_=ARRAY(LargeBinary)))

# The lock makes it wait for a transaction that finishes the run, which has deleted what is kept: a row after that would stay.
_MARK_OVER: Final = text(
    """
INSERT INTO call_states (run_id, organization_id, is_over)
SELECT id, organization_id, true FROM runs
WHERE id = :run_id AND organization_id = :organization_id AND worker_id = :worker_id AND lease_until IS NOT NULL
FOR SHARE
ON CONFLICT (run_id) DO UPDATE SET is_over = true, sealed = NULL
"""
)


class CarriedCall(NamedTuple):
    """Who carries a run, and what is kept of its call. ``has_state``: there is a row; ``is_kept``: with a state in it."""

    status: str
    call_id: str | None
    worker_id: str | None
    lease_until: datetime | None
    has_state: bool
    is_kept: bool
    is_over: bool


async def write_states(session: AsyncSession, worker_id: str, states: Mapping[int, bytes | None]) -> None:
    """Keeps the states of calls of all organizations that this process carries, by run."""
    if states:
        values = {"run_ids": list(states), "states": list(states.values()), "worker_id": worker_id}
        await session.execute(_WRITE, values)


async def mark_over(session: AsyncSession, organization_id: int, run_id: int, *, worker_id: str) -> None:
    """Notes that our side has ended the call that this process carries, which nobody takes up again, and forgets its
    state. Does nothing to a run that is finished, or another process's."""
    await session.execute(_MARK_OVER, {"run_id": run_id, "organization_id": organization_id, "worker_id": worker_id})


async def forget_states(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> None:
    """Deletes the states of calls that are over."""
    await session.execute(
        delete(LiveCallState).where(LiveCallState.organization_id == organization_id, LiveCallState.run_id.in_(run_ids))
    )


async def read_state(session: AsyncSession, organization_id: int, run_id: int) -> tuple[bytes | None, float] | None:
    """Returns the sealed state of a call and its age in seconds by the database's clock; None when there is none."""
    age = extract("epoch", func.clock_timestamp() - LiveCallState.updated_at)
    found = await session.execute(
        select(LiveCallState.sealed, age).where(
            LiveCallState.run_id == run_id, LiveCallState.organization_id == organization_id
        )
    )
    row = found.one_or_none()
    return None if row is None else (row[0], max(0.0, float(row[1])))


async def find_carrier_of_run(session: AsyncSession, organization_id: int, run_id: int) -> CarriedCall | None:
    """Returns who carries the run; None if there is no such run."""
    found = await session.execute(
        select(
            Run.status,
            Run.call_id,
            Run.worker_id,
            Run.lease_until,
            LiveCallState.run_id.is_not(None),
            LiveCallState.sealed.is_not(None),
            func.coalesce(LiveCallState.is_over, False),
        )
        .outerjoin(LiveCallState, LiveCallState.run_id == Run.id)
        .where(Run.id == run_id, Run.organization_id == organization_id)
    )
    row = found.one_or_none()
    return None if row is None else CarriedCall(*row)


async def release_run(
    session: AsyncSession, organization_id: int, run_id: int, *, worker_id: str, until: datetime
) -> bool:
    """Takes a live run from the process that carried it, so that whoever connects next carries it; returns whether that
    process still had it. If nobody connects ``until`` then, the sweeper ends the run."""
    released = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .where(Run.worker_id == worker_id, Run.status.in_(sorted(LIVE_STATES)))
        .values(worker_id=None, lease_until=until)
        .returning(Run.id)
        .execution_options(synchronize_session=False)
    )
    return released.scalar_one_or_none() is not None


async def reclaim_run(
    session: AsyncSession, organization_id: int, run_id: int, *, worker_id: str, until: datetime
) -> bool:
    """Takes back a run that nobody took; returns False if somebody did."""
    taken = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id, Run.worker_id.is_(None))
        .values(worker_id=worker_id, lease_until=until)
        .returning(Run.id)
        .execution_options(synchronize_session=False)
    )
    return taken.scalar_one_or_none() is not None


async def find_runs_of_others(session: AsyncSession, run_ids: Sequence[int], *, worker_id: str) -> set[int]:
    """Returns which of these runs, of any organization, another process carries or may take now."""
    found = await session.scalars(
        select(Run.id)
        .where(Run.id.in_(run_ids), Run.lease_until.is_not(None), Run.ended_at.is_(None))
        .where(func.coalesce(Run.worker_id, "") != worker_id)
    )
    return set(found)


async def find_workers(session: AsyncSession, run_ids: Sequence[int]) -> dict[int, str]:
    """Returns which process carries each of these runs, of any organization."""
    rows = await session.execute(select(Run.id, Run.worker_id).where(Run.id.in_(run_ids), Run.worker_id.is_not(None)))
    return {run_id: worker_id for run_id, worker_id in rows if worker_id is not None}
