"""Statements on signed requests that arrived. Nonces are hashes of the account and of the carrier's signed content."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.tables import SeenWebhook


async def record_nonce(session: AsyncSession, nonce_sha256: bytes, body_sha256: bytes) -> bool:
    """Returns False when the nonce is already recorded. Of two concurrent requests one waits for the other's
    transaction."""
    written = await session.execute(
        insert(SeenWebhook)
        .values(nonce_sha256=nonce_sha256, body_sha256=body_sha256)
        .on_conflict_do_nothing()
        .returning(SeenWebhook.nonce_sha256)
    )
    return written.scalar_one_or_none() is not None


async def find_body_hash(session: AsyncSession, nonce_sha256: bytes) -> bytes | None:
    body: bytes | None = await session.scalar(
        select(SeenWebhook.body_sha256).where(SeenWebhook.nonce_sha256 == nonce_sha256)
    )
    return body


async def delete_nonces(session: AsyncSession, received_before: datetime) -> None:
    await session.execute(delete(SeenWebhook).where(SeenWebhook.received_at < received_before))
