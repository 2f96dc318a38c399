"""Statements on documents that are web pages."""

import uuid

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge import repository
from offhook.knowledge.tables import KnowledgeDocument


async def find_page_being_read(
    session: AsyncSession, organization_id: int, document_id: str, *, for_update: bool = False
) -> KnowledgeDocument | None:
    """Returns a page that is waiting to be fetched; None once it was fetched or deleted."""
    query = (
        select(KnowledgeDocument)
        .where(
            KnowledgeDocument.organization_id == organization_id,
            KnowledgeDocument.id == uuid.UUID(document_id),
            KnowledgeDocument.reading_since.is_not(None),
            KnowledgeDocument.next_content_id.is_(None),
        )
        .execution_options(populate_existing=True)
    )
    return (await session.execute(query.with_for_update() if for_update else query)).scalar_one_or_none()


async def delete_unused_content(session: AsyncSession, organization_id: int, content_id: int) -> str | None:
    """Deletes a content, with its pieces and vectors, unless it is being processed or a document has it; returns the key of
    its file."""
    # Locked first: a document that is about to get it is seen, and one that comes later finds it gone.
    content = await repository.find_content(session, organization_id, content_id, for_update=True)
    if content is None or content.state == "processing":
        return None
    has_it = or_(
        KnowledgeDocument.content_id == content_id,
        and_(KnowledgeDocument.next_content_id == content_id, KnowledgeDocument.reading_since.is_not(None)),
    )
    in_organization = KnowledgeDocument.organization_id == organization_id
    if await session.scalar(select(KnowledgeDocument.id).where(in_organization, has_it).limit(1)) is not None:
        return None
    if content.state == "ready":
        await repository.uncount_terms(session, organization_id, content_id)
    await session.delete(content)
    return content.storage_key
