"""Reads of the sweep, across organizations."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.privacy.tables import PersonDataRequest


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
