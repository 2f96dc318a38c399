"""Statements that delete campaigns and contacts; each takes the organization."""

from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Campaign, Contact


async def delete_contacts(session: AsyncSession, organization_id: int, campaign_id: int, *, limit: int) -> int:
    """Deletes some contacts with their dials and returns how many."""
    some = (
        select(Contact.id)
        .where(Contact.organization_id == organization_id, Contact.campaign_id == campaign_id)
        .limit(limit)
    )
    deleted = await session.scalars(delete(Contact).where(Contact.id.in_(some)).returning(Contact.id))
    return len(deleted.all())


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
