"""Reads across organizations, of the sweeps and the command line."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.privacy.tables import OrganizationDeletion, PersonDataRequest


async def list_open_requests(session: AsyncSession) -> Sequence[PersonDataRequest]:
    """Returns the requests that are not done, of all organizations."""
    rows = select(PersonDataRequest).where(PersonDataRequest.state != "done").order_by(PersonDataRequest.id)
    return (await session.scalars(rows)).all()


async def list_expired_archives(session: AsyncSession, now: datetime) -> Sequence[PersonDataRequest]:
    """Returns the exports whose archive is to be deleted, of all organizations."""
    rows = select(PersonDataRequest).where(
        PersonDataRequest.archive_key.is_not(None), PersonDataRequest.archive_expires_at < now
    )
    return (await session.scalars(rows)).all()


async def list_named_archives(session: AsyncSession, keys: Sequence[str]) -> set[str]:
    """Returns those of the keys that a request of any organization names as its archive."""
    return set(
        await session.scalars(
            select(PersonDataRequest.archive_key).where(PersonDataRequest.archive_key.in_(keys)).distinct()
        )
    )


async def find_deletion(session: AsyncSession, deletion_id: int) -> OrganizationDeletion | None:
    return await session.get(OrganizationDeletion, deletion_id)


async def list_open_deletions(session: AsyncSession) -> Sequence[OrganizationDeletion]:
    """Returns the organizations that are closed and not deleted yet."""
    rows = select(OrganizationDeletion).where(OrganizationDeletion.state != "done").order_by(OrganizationDeletion.id)
    return (await session.scalars(rows)).all()


async def list_deletions(session: AsyncSession) -> Sequence[OrganizationDeletion]:
    """Returns all deletions of organizations with their receipts, newest first."""
    return (await session.scalars(select(OrganizationDeletion).order_by(OrganizationDeletion.id.desc()))).all()
