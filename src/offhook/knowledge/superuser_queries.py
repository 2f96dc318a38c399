"""Queries of jobs across organizations."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge.tables import DocumentContent, KnowledgeDocument


async def organizations_with_notices(session: AsyncSession) -> Sequence[int]:
    """Returns the organizations that have documents without vectors."""
    lacking = DocumentContent.error.is_not(None), DocumentContent.state == "ready"
    return (await session.scalars(select(DocumentContent.organization_id).where(*lacking).distinct())).all()


async def known_keys(session: AsyncSession, keys: Collection[str]) -> set[str]:
    """Returns those of the keys under which a document's file is stored."""
    return set(await session.scalars(select(DocumentContent.storage_key).where(DocumentContent.storage_key.in_(keys))))


async def stale_pages(session: AsyncSession, before: datetime) -> list[tuple[int, str, int | None]]:
    """Returns ``(organization id, document id, content id)`` of pages whose reading began before ``before``, and whose
    content was not fetched or is no longer being processed."""
    rows = await session.execute(
        select(KnowledgeDocument.organization_id, KnowledgeDocument.id, KnowledgeDocument.next_content_id)
        .outerjoin(DocumentContent, DocumentContent.id == KnowledgeDocument.next_content_id)
        .where(KnowledgeDocument.reading_since < before, DocumentContent.state.is_distinct_from("processing"))
        .order_by(KnowledgeDocument.reading_since)
        .limit(1000)
    )
    return [(row[0], str(row[1]), row[2]) for row in rows]


async def stale_contents(session: AsyncSession, before: datetime) -> list[tuple[int, int]]:
    """Returns ``(organization id, content id)`` of contents in processing that no worker has touched since then."""
    rows = await session.execute(
        select(DocumentContent.organization_id, DocumentContent.id)
        .where(DocumentContent.state == "processing", DocumentContent.touched_at < before)
        .order_by(DocumentContent.id)
        .limit(1000)
    )
    return [(row[0], row[1]) for row in rows]
