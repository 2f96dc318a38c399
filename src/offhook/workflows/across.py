"""What superusers ask of workflows, across all organisations."""

from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.workflows.repository import DELETED
from offhook.workflows.tables import Workflow


async def listing(
    session: AsyncSession, organization_id: int | None, statuses: Collection[str], *, limit: int | None, offset: int
) -> tuple[Sequence[Workflow], int]:
    """Newest first, of one organisation or of all; and how many there are in all."""
    conditions = [Workflow.status != DELETED]
    if organization_id is not None:
        conditions.append(Workflow.organization_id == organization_id)
    if statuses:
        conditions.append(Workflow.status.in_(statuses))
    total = await session.scalar(select(func.count()).select_from(Workflow).where(*conditions))
    rows = await session.scalars(
        select(Workflow).where(*conditions).order_by(Workflow.id.desc()).limit(limit).offset(offset)
    )
    return rows.all(), total or 0


async def counts(session: AsyncSession, organization_ids: Collection[int]) -> dict[int, int]:
    """How many workflows each of these organisations has; those without any are left out."""
    rows = await session.execute(
        select(Workflow.organization_id, func.count())
        .where(Workflow.organization_id.in_(organization_ids), Workflow.status != DELETED)
        .group_by(Workflow.organization_id)
    )
    return {row[0]: row[1] for row in rows}


async def names(session: AsyncSession, ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(select(Workflow.id, Workflow.name).where(Workflow.id.in_(ids)))
    return {row[0]: row[1] for row in rows}
