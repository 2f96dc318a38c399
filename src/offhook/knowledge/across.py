"""What jobs look for across organisations."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge.tables import DocumentContent


async def stale_contents(session: AsyncSession, before: datetime) -> list[tuple[int, int]]:
    """``(organization id, content id)`` of what is being processed and nobody has touched since then."""
    rows = await session.execute(
        select(DocumentContent.organization_id, DocumentContent.id)
        .where(DocumentContent.state == "processing", DocumentContent.touched_at < before)
        .order_by(DocumentContent.id)
        .limit(1000)
    )
    return [(row[0], row[1]) for row in rows]
