"""Queries of superusers on campaigns, across all organizations."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Campaign


async def list_all_campaigns(
    session: AsyncSession, organization_id: int | None, *, limit: int | None, offset: int
) -> tuple[Sequence[Campaign], int]:
    """Returns a page, newest first, of one organization or of all, and the total number."""
    conditions = [] if organization_id is None else [Campaign.organization_id == organization_id]
    total = await session.scalar(select(func.count()).select_from(Campaign).where(*conditions))
    rows = await session.scalars(
        select(Campaign).where(*conditions).order_by(Campaign.id.desc()).limit(limit).offset(offset)
    )
    return rows.all(), total or 0
