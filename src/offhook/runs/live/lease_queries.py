"""Queries for leases: which worker carries a run, and until when it is presumed alive."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run

# How many expired leases, and how many runs that never connected, a sweep examines to find those that it can end.
MAX_FOUND: Final = 10_000


async def take_run(session: AsyncSession, run_id: int, *, worker_id: str, now: datetime, until: datetime) -> Run | None:
    """Moves a run that no worker carries to ``in_progress`` and assigns it to this worker; None if that is not
    possible.

    Takes no organization: the caller has just spent the run's media token.
    """
    taken = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.status.in_(sorted(LIVE_STATES)), Run.worker_id.is_(None))
        .values(
            status="in_progress",
            worker_id=worker_id,
            lease_until=until,
            started_at=func.coalesce(Run.started_at, now),
            answered_at=func.coalesce(Run.answered_at, now),
        )
        .returning(Run)
        .execution_options(populate_existing=True)
    )
    return taken.scalar_one_or_none()


async def renew_run_leases(
    session: AsyncSession, run_ids: Sequence[int], *, worker_id: str, until: datetime
) -> tuple[set[int], set[int]]:
    """Renews a worker's leases in one statement. Returns the ids of the runs that were renewed, and of those that it still
    holds but that another transaction is changing: waiting for it would cost the other runs their leases.
    """
    is_held = (Run.worker_id == worker_id, Run.lease_until.is_not(None))
    held_ids = _locked_in_order(run_ids, *is_held, skip_locked=True)
    found = await session.scalars(
        update(Run)
        .where(Run.id.in_(held_ids))
        .values(lease_until=until)
        .returning(Run.id)
        .execution_options(synchronize_session=False)
    )
    renewed = set(found)
    left_out = set(run_ids) - renewed
    locked = await session.scalars(select(Run.id).where(Run.id.in_(left_out), *is_held)) if left_out else ()
    return renewed, set(locked)


async def lease_ringing_runs(
    session: AsyncSession, run_ids: Sequence[int], *, until: datetime, skip_locked: bool = False
) -> None:
    """Leases live runs that no worker carries yet: their phone rings inside this process and dies with it.

    ``skip_locked``: leave out runs whose rows another transaction holds, instead of waiting for them.
    """
    ringing = _locked_in_order(
        run_ids, Run.worker_id.is_(None), Run.status.in_(sorted(LIVE_STATES)), skip_locked=skip_locked
    )
    await session.execute(
        update(Run).where(Run.id.in_(ringing)).values(lease_until=until).execution_options(synchronize_session=False)
    )


async def is_carried(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Returns whether a worker carries or carried the run; this cannot change until the transaction ends."""
    found = await session.scalars(
        select(Run.worker_id)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .with_for_update(key_share=True)
    )
    return found.one_or_none() is not None


def _locked_in_order(
    run_ids: Sequence[int], *conditions: ColumnElement[bool], skip_locked: bool = False
) -> Select[Any]:
    """Selects runs and locks them in the order of their ids, as status changes do, so that neither can deadlock."""
    ordered = (
        select(Run.id)
        .where(Run.id.in_(run_ids), *conditions)
        .order_by(Run.id)
        .with_for_update(key_share=True, skip_locked=skip_locked)
    )
    return select(ordered.cte("locked").c.id)


async def find_expired(session: AsyncSession, now: datetime, limit: int = MAX_FOUND) -> list[tuple[int, datetime]]:
    """Returns (run, lease) of expired leases: the oldest of each organization, then the next of each, so that runs
    that cannot be ended do not hold up other organizations."""
    turn = func.row_number().over(partition_by=Run.organization_id, order_by=Run.lease_until)
    rows = await session.execute(
        select(Run.id, Run.lease_until)
        .where(Run.is_leased, Run.lease_until < now)
        .order_by(turn, Run.lease_until)
        .limit(limit)
    )
    return [(row.id, row.lease_until) for row in rows]


async def lock_expired(session: AsyncSession, run_id: int, seen: datetime) -> Run | None:
    """Locks and returns the run if its lease is still the one seen before; two sweepers never get the same run."""
    found = await session.execute(
        select(Run)
        .where(Run.id == run_id, Run.lease_until == seen)
        .with_for_update(skip_locked=True, key_share=True)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def find_never_connected(
    session: AsyncSession, before: datetime, limit: int = MAX_FOUND
) -> list[tuple[int, int]]:
    """Returns (organization, run) of live runs that no worker ever took and that were last active before ``before``, of each
    organization in turn."""
    turn = func.row_number().over(partition_by=Run.organization_id, order_by=Run.id)
    last_sign = func.greatest(Run.created_at, func.coalesce(Run.started_at, Run.created_at))
    rows = await session.execute(
        select(Run.organization_id, Run.id)
        .where(Run.status.in_(sorted(LIVE_STATES)), Run.worker_id.is_(None), Run.lease_until.is_(None))
        .where(last_sign < literal(before))
        .order_by(turn, Run.id)
        .limit(limit)
    )
    return [(row.organization_id, row.id) for row in rows]
