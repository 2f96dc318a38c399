"""Queries for runs. Every read takes the organization; those that do not say why."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final, TypedDict

from sqlalchemy import ARRAY, BigInteger, Text, bindparam, func, literal, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import INITIATED, LIVE_STATES, TEXT_CHAT
from offhook.runs.tables import Run, RunCostLine


class CostLineValues(TypedDict):
    """A cost line as clients see it."""

    kind: str
    provider: str
    model: str
    unit: str
    quantity: float
    unit_price_cents: float
    cost_cents: float
    price_date: str


async def by_id(session: AsyncSession, organization_id: int, run_id: int) -> Run | None:
    """Returns the run as the database has it now."""
    found = await session.execute(
        select(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def by_ids(session: AsyncSession, runs: Collection[tuple[int, int]]) -> dict[tuple[int, int], Run]:
    """Returns runs by (organization, run) as the database has them now; missing ones are left out."""
    found = await session.scalars(
        select(Run)
        .where(tuple_(Run.organization_id, Run.id).in_(sorted(runs)))
        .execution_options(populate_existing=True)
    )
    return {(run.organization_id, run.id): run for run in found}


async def find_neighbors(
    session: AsyncSession, organization_id: int, workflow_id: int, run_id: int
) -> tuple[int | None, int | None]:
    """Returns the ids of the workflow's runs before and after this one."""
    own = (Run.organization_id == organization_id, Run.workflow_id == workflow_id)
    before = select(func.max(Run.id)).where(*own, Run.id < run_id).scalar_subquery()
    after = select(func.min(Run.id)).where(*own, Run.id > run_id).scalar_subquery()
    found = (await session.execute(select(before, after))).one()
    return found[0], found[1]


async def run_of_bearer(session: AsyncSession, run_id: int) -> Run | None:
    """Returns a run to the bearer of its media token or of our signed link, which was verified; no organization needed."""
    return await session.get(Run, run_id)


async def find_any_run(session: AsyncSession, run_id: int) -> Run | None:
    """Returns a run of any organization, for the command line."""
    return await session.get(Run, run_id)


async def find_chat_run(
    session: AsyncSession, organization_id: int, workflow_id: int, run_id: int, *, lock: bool
) -> Run | None:
    """Returns a workflow's text-chat run; ``lock`` locks it until the transaction ends."""
    query = select(Run).where(
        Run.id == run_id,
        Run.organization_id == organization_id,
        Run.workflow_id == workflow_id,
        Run.mode == TEXT_CHAT,
    )
    if lock:
        query = query.with_for_update(key_share=True)
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def cost_lines(session: AsyncSession, organization_id: int, run_id: int) -> list[CostLineValues]:
    """Returns the run's cost lines as clients see them."""
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


async def take_for_dialing(
    session: AsyncSession, organization_id: int, run_id: int, *, at: datetime, known: Mapping[str, Any]
) -> Run | None:
    """Compare-and-swaps a run that was never dialed; two requests never get the same one."""
    taken = await session.execute(
        update(Run)
        .where(Run.id == run_id, Run.organization_id == organization_id)
        .where(Run.status == INITIATED, Run.started_at.is_(None), Run.call_id.is_(None))
        .values(direction="outbound", started_at=at, **known)
        .returning(Run)
        .execution_options(populate_existing=True)
    )
    return taken.scalar_one_or_none()


async def is_over(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Returns whether the run is complete: final with no worker still completing it, or gone."""
    found = await session.execute(
        select(Run.status.in_(sorted(LIVE_STATES)) | func.coalesce(Run.lease_until > func.now(), literal(False))).where(
            Run.id == run_id, Run.organization_id == organization_id
        )
    )
    is_going_on = found.scalar_one_or_none()
    return not is_going_on


_SET_CALL_IDS: Final = text(
    "UPDATE runs SET call_id = taken.call_id FROM unnest(:organization_ids, :run_ids, :call_ids)"
    " AS taken (organization_id, run_id, call_id)"
    " WHERE id IN (SELECT id FROM runs WHERE id = ANY(:run_ids) AND call_id IS NULL ORDER BY id FOR NO KEY UPDATE)"
    " AND id = taken.run_id AND runs.organization_id = taken.organization_id AND runs.call_id IS NULL"
    " AND NOT EXISTS (SELECT FROM runs AS other WHERE other.call_id = taken.call_id AND other.mode = runs.mode"
    " AND other.organization_id = runs.organization_id)"
).bindparams(
    bindparam("organization_ids", type_=ARRAY(BigInteger)),
    bindparam("run_ids", type_=ARRAY(BigInteger)),
    bindparam("call_ids", type_=ARRAY(Text)),
)


async def set_call_ids(session: AsyncSession, calls: Collection[tuple[int, int, str]]) -> None:
    organization_ids, run_ids, call_ids = zip(*calls, strict=True)
    await session.execute(
        _SET_CALL_IDS,
        {"organization_ids": list(organization_ids), "run_ids": list(run_ids), "call_ids": list(call_ids)},
    )
