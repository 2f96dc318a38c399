"""Statements about recorded answers."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.scenarios.tables import ScenarioAnswer


async def find_answer(
    session: AsyncSession, organization_id: int, workflow_id: int, request_hash: str, occurrence: int
) -> ScenarioAnswer | None:
    return await session.scalar(
        select(ScenarioAnswer).where(
            ScenarioAnswer.organization_id == organization_id,
            ScenarioAnswer.workflow_id == workflow_id,
            ScenarioAnswer.request_hash == request_hash,
            ScenarioAnswer.occurrence == occurrence,
        )
    )


async def add_answer(session: AsyncSession, answer: ScenarioAnswer) -> None:
    """Stores an answer, unless its request has one."""
    names = ("organization_id", "workflow_id", "request_hash", "occurrence", "key_number", "sealed", "asked", "model")
    values = {name: getattr(answer, name) for name in names}
    await session.execute(insert(ScenarioAnswer).values(values).on_conflict_do_nothing())


async def count_answers(
    session: AsyncSession, organization_id: int, workflow_id: int
) -> tuple[int, int, datetime | None]:
    """Returns how many answers an agent has, their bytes, and when the newest one was recorded."""
    row = (
        await session.execute(
            select(
                func.count(),
                func.coalesce(func.sum(func.length(ScenarioAnswer.sealed)), 0),
                func.max(ScenarioAnswer.created_at),
            ).where(ScenarioAnswer.organization_id == organization_id, ScenarioAnswer.workflow_id == workflow_id)
        )
    ).one()
    return int(row[0]), int(row[1]), row[2]


async def list_answers(session: AsyncSession, organization_id: int, workflow_id: int) -> Sequence[ScenarioAnswer]:
    rows = await session.scalars(
        select(ScenarioAnswer)
        .where(ScenarioAnswer.organization_id == organization_id, ScenarioAnswer.workflow_id == workflow_id)
        .order_by(ScenarioAnswer.id)
    )
    return rows.all()


async def delete_answers(
    session: AsyncSession, organization_id: int, workflow_id: int | None, before: datetime | None = None
) -> int:
    """Deletes the answers of an agent, or of all agents, that were recorded before this time; returns how many."""
    query = delete(ScenarioAnswer).where(ScenarioAnswer.organization_id == organization_id)
    if workflow_id is not None:
        query = query.where(ScenarioAnswer.workflow_id == workflow_id)
    if before is not None:
        query = query.where(ScenarioAnswer.created_at < before)
    deleted = await session.execute(query.returning(ScenarioAnswer.id))
    return len(deleted.all())


async def list_after(
    session: AsyncSession, organization_id: int, answer_id: int, *, limit: int
) -> Sequence[ScenarioAnswer]:
    """Returns answers of all agents with a higher number, in their order."""
    owner = ScenarioAnswer.organization_id == organization_id
    query = select(ScenarioAnswer).where(owner, ScenarioAnswer.id > answer_id).order_by(ScenarioAnswer.id)
    return (await session.scalars(query.limit(limit))).all()


async def delete_answer(session: AsyncSession, organization_id: int, answer_id: int) -> None:
    owner = ScenarioAnswer.organization_id == organization_id
    await session.execute(delete(ScenarioAnswer).where(owner, ScenarioAnswer.id == answer_id))


async def list_with_older_keys(
    session: AsyncSession, organization_id: int, key_number: int, *, limit: int
) -> Sequence[ScenarioAnswer]:
    """Returns answers that are encrypted with a key before this one."""
    owner = ScenarioAnswer.organization_id == organization_id
    query = select(ScenarioAnswer).where(owner, ScenarioAnswer.key_number < key_number)
    return (await session.scalars(query.order_by(ScenarioAnswer.id).limit(limit))).all()


async def replace_sealed(
    session: AsyncSession, organization_id: int, answer_id: int, key_number: int, sealed: bytes
) -> None:
    owner = ScenarioAnswer.organization_id == organization_id
    await session.execute(
        update(ScenarioAnswer).where(owner, ScenarioAnswer.id == answer_id).values(key_number=key_number, sealed=sealed)
    )
