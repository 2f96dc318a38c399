"""Superusers' queries about organizations, across all of them."""

from collections.abc import Collection

from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import Member, Organization


async def list_organizations(
    session: AsyncSession, *, limit: int | None, offset: int
) -> tuple[list[Row[Organization, int]], int]:
    """Returns each organization with its number of members, oldest first, and the total count."""
    member_count = (
        select(func.count()).where(Member.organization_id == Organization.id).correlate(Organization).scalar_subquery()
    )
    rows = await session.execute(
        select(Organization, member_count).order_by(Organization.id).limit(limit).offset(offset)
    )
    total = await session.scalar(select(func.count()).select_from(Organization))
    return list(rows.all()), total or 0


async def names_by_id(session: AsyncSession, ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(select(Organization.id, Organization.name).where(Organization.id.in_(ids)))
    return {row[0]: row[1] for row in rows}
