"""Statements on the webhooks of all organizations."""

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.webhooks.tables import WebhookEndpoint


async def advance_deliveries(session: AsyncSession, count: int) -> None:
    """Leaves out so many numbers of deliveries (``offhook-sequence``) of every endpoint."""
    await session.execute(update(WebhookEndpoint).values(last_sequence=WebhookEndpoint.last_sequence + count))
