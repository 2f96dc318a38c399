"""Statements that delete campaigns and contacts; each takes the organization."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import String, cast, delete, exists, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import REMOVED, Campaign, Contact


async def delete_contacts(session: AsyncSession, organization_id: int, campaign_id: int, *, limit: int) -> int:
    """Deletes some contacts with their dials and returns how many."""
    some = (
        select(Contact.id)
        .where(Contact.organization_id == organization_id, Contact.campaign_id == campaign_id)
        .limit(limit)
    )
    deleted = await session.scalars(delete(Contact).where(Contact.id.in_(some)).returning(Contact.id))
    return len(deleted.all())


async def list_campaigns_over_before(
    session: AsyncSession, organization_id: int, before: datetime, *, after: int, limit: int
) -> Sequence[int]:
    """Returns campaigns that ended before a moment and have their contacts still, by id after ``after``."""
    ended_at = func.coalesce(Campaign.completed_at, Campaign.running_since, Campaign.created_at)
    rows = select(Campaign.id).where(
        Campaign.organization_id == organization_id,
        Campaign.status.in_(("completed", "failed")),
        Campaign.contacts_removed_at.is_(None),
        Campaign.id > after,
        ended_at < before,
    )
    return (await session.scalars(rows.order_by(Campaign.id).limit(limit))).all()


async def empty_contacts(session: AsyncSession, organization_id: int, campaign_id: int, *, limit: int) -> int:
    """Takes number and variables from some contacts and returns how many. What became of them stays."""
    some = (
        select(Contact.id)
        .where(
            Contact.organization_id == organization_id,
            Contact.campaign_id == campaign_id,
            Contact.phone_number.not_like(f"{REMOVED}%"),
        )
        .limit(limit)
    )
    emptied = await session.scalars(
        update(Contact)
        .where(Contact.id.in_(some))
        .values(phone_number=literal(REMOVED) + cast(Contact.id, String), variables={})
        .returning(Contact.id)
        .execution_options(synchronize_session=False)
    )
    return len(emptied.all())


async def delete_campaign(session: AsyncSession, organization_id: int, campaign_id: int) -> bool:
    """Deletes the campaign; its redials stay and forget where they came from."""
    deleted = await session.scalar(
        delete(Campaign)
        .where(Campaign.organization_id == organization_id, Campaign.id == campaign_id)
        .returning(Campaign.id)
    )
    return deleted is not None


async def is_file_shared(session: AsyncSession, organization_id: int, campaign_id: int, key: str) -> bool:
    """Returns whether another campaign has the same contact file."""
    others = exists().where(
        Campaign.organization_id == organization_id, Campaign.contacts_file_key == key, Campaign.id != campaign_id
    )
    return bool(await session.scalar(select(others)))
