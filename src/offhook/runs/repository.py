"""The queries on runs; every read takes the organisation, and what has none says why."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Integer, Numeric, case, cast, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import INITIATED, LIVE, OUTCOME_OF, sources_of
from offhook.runs.tables import Run, RunCostLine

# Above this, counting every workflow of the organisation is faster than picking some.
_FEW = 100


async def by_id(session: AsyncSession, organization_id: int, run_id: int) -> Run | None:
    """The run as the database has it now."""
    found = await session.execute(
        select(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def run_of_claimed_token(session: AsyncSession, run_id: int) -> Run | None:
    """Without an organisation on purpose: the caller is a carrier's socket, and its token was just found to be right."""
    return await session.get(Run, run_id)


async def run_of_signed_link(session: AsyncSession, run_id: int) -> Run | None:
    """Without an organisation on purpose: the link that names this run was signed by us for whoever holds it."""
    return await session.get(Run, run_id)


async def cost_lines(session: AsyncSession, organization_id: int, run_id: int) -> list[dict[str, Any]]:
    """What the run cost, line by line, as it is shown."""
    lines = await session.execute(
        select(RunCostLine)
        .where(RunCostLine.run_id == run_id, RunCostLine.organization_id == organization_id)
        .order_by(RunCostLine.id)
    )
    return [
        {
            "kind": line.kind,
            "provider": line.provider,
            "model": line.model,
            "unit": line.unit,
            "quantity": float(line.quantity),
            "unit_price_cents": float(line.unit_price_cents),
            "cost_cents": round(float(line.quantity * line.unit_price_cents), 6),
            "price_date": line.price_date.isoformat(),
        }
        for line in lines.scalars()
    ]


async def move(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    status: str,
    *,
    at: datetime,
    known: Mapping[str, str | None],
) -> int | None:
    """Compare-and-swap to ``status``; the ``at_ms`` of the move, or None when the run is not in a state that allows it.

    ``known`` may hold ``outcome``, ``end_reason`` and ``call_id``. While a live call carries the run, its outcome is
    left to that call unless it is given here.
    """
    is_final = status in OUTCOME_OF
    fallback = func.coalesce(Run.outcome, OUTCOME_OF[status]) if is_final else Run.outcome
    values: dict[str, Any] = {
        "status": status,
        "end_reason": func.coalesce(known.get("end_reason"), Run.end_reason),
        "call_id": func.coalesce(known.get("call_id"), Run.call_id),
        "started_at": func.coalesce(Run.started_at, at),
    }
    if known.get("outcome") is not None:
        values["outcome"] = known["outcome"]
    elif is_final:
        values["outcome"] = case((Run.worker_id.is_(None), fallback), else_=Run.outcome)
    if status == "in_progress":
        values["answered_at"] = func.coalesce(Run.answered_at, at)
    if is_final:
        values["ended_at"] = at
        values["duration"] = duration_until(at)
        # the lease of a telephone that rang inside a process ends here; a worker ends that of its call itself
        values["lease_until"] = case((Run.worker_id.is_(None), None), else_=Run.lease_until)
    moved = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id, Run.status.in_(sorted(sources_of(status))))
        .values(values)
        .returning(at_ms(at))
        .execution_options(synchronize_session=False)
    )
    return moved.scalar_one_or_none()


async def take_for_dialing(
    session: AsyncSession, organization_id: int, run_id: int, *, at: datetime, known: Mapping[str, Any]
) -> Run | None:
    """Compare-and-swap of a run that nothing has happened to; two requests never get the same one."""
    taken = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .where(Run.status == INITIATED, Run.started_at.is_(None), Run.call_id.is_(None))
        .values(direction="outbound", started_at=at, **known)
        .returning(Run)
        .execution_options(populate_existing=True)
    )
    return taken.scalar_one_or_none()


def at_ms(at: datetime) -> ColumnElement[int]:
    """Milliseconds from the answer to ``at``: the run's audio clock as seen from outside of the call."""
    elapsed = func.extract("epoch", literal(at) - func.coalesce(Run.answered_at, at)) * 1000
    return cast(func.greatest(elapsed, 0), Integer)


def duration_until(at: datetime) -> ColumnElement[Any]:
    """Seconds from the answer to ``at``; 0 of a run that nobody answered."""
    return cast(
        func.greatest(func.extract("epoch", literal(at) - func.coalesce(Run.answered_at, at)), 0), Numeric(10, 3)
    )


async def counts(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, int]:
    """How many runs each of these workflows has; those without any are left out."""
    counted = select(Run.workflow_id, func.count().label("runs")).where(Run.organization_id == organization_id)
    if len(workflow_ids) <= _FEW:
        counted = counted.where(Run.workflow_id.in_(workflow_ids))
    each = counted.group_by(Run.workflow_id).subquery()
    # Two arrays, because thousands of rows take longer to be read than to be counted.
    ids, runs = (await session.execute(select(func.array_agg(each.c.workflow_id), func.array_agg(each.c.runs)))).one()
    wanted = set(workflow_ids)
    return {id_: number for id_, number in zip(ids or (), runs or (), strict=True) if id_ in wanted}


async def is_over(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Whether nothing more will be written about the run: it is final and no worker still completes it; or it is gone."""
    found = await session.execute(
        select(Run.status.in_(sorted(LIVE)) | func.coalesce(Run.lease_until > func.now(), literal(False))).where(
            Run.id == run_id, Run.organization_id == organization_id
        )
    )
    is_going_on = found.scalar_one_or_none()
    return not is_going_on


async def set_call_id(session: AsyncSession, organization_id: int, run_id: int, call_id: str) -> None:
    await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id, Run.call_id.is_(None))
        .values(call_id=call_id)
        .execution_options(synchronize_session=False)
    )
