"""Statements on documents and their contents."""

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.knowledge.tables import (
    DocumentContent,
    KnowledgeChunk,
    KnowledgeDocument,
    KnowledgeTerm,
    KnowledgeVector,
    VectorSpace,
)

# A web page has no content before it was read once.
DocumentRow = tuple[KnowledgeDocument, DocumentContent | None]


def parse_uuid(value: str) -> uuid.UUID | None:
    """Parses a UUID; None for other text: ids come from paths and definitions."""
    try:
        return uuid.UUID(value)
    except ValueError:
        return None


async def find_document(
    session: AsyncSession, organization_id: int, document_id: str, *, for_update: bool = False
) -> DocumentRow | None:
    uuid_ = parse_uuid(document_id)
    if uuid_ is None:
        return None
    query = (
        select(KnowledgeDocument, DocumentContent)
        .outerjoin(DocumentContent, DocumentContent.id == KnowledgeDocument.content_id)
        .where(KnowledgeDocument.organization_id == organization_id, KnowledgeDocument.id == uuid_)
    )
    if for_update:
        query = query.with_for_update(of=KnowledgeDocument).execution_options(populate_existing=True)
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def find_document_of_bytes(
    session: AsyncSession, organization_id: int, sha256: str, name: str
) -> DocumentRow | None:
    """Returns the newest document of this name and content that is not archived and did not fail."""
    query = (
        select(KnowledgeDocument, DocumentContent)
        .join(DocumentContent, DocumentContent.id == KnowledgeDocument.content_id)
        .where(
            KnowledgeDocument.organization_id == organization_id,
            KnowledgeDocument.name == name,
            KnowledgeDocument.archived_at.is_(None),
            DocumentContent.sha256 == sha256,
            DocumentContent.state != "failed",
        )
        .order_by(KnowledgeDocument.number.desc())
        .limit(1)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def list_documents(
    session: AsyncSession,
    organization_id: int,
    *,
    status: str | None = None,
    has_archived: bool = True,
    limit: int | None = None,
    offset: int = 0,
) -> tuple[list[DocumentRow], int]:
    """Returns documents, newest first, and the total count. ``status``: processing, ready, failed or archived."""
    conditions = [KnowledgeDocument.organization_id == organization_id]
    if status == "archived":
        conditions.append(KnowledgeDocument.archived_at.is_not(None))
    elif status is not None:
        conditions += [KnowledgeDocument.archived_at.is_(None), KnowledgeDocument.status == status]
    elif not has_archived:
        conditions.append(KnowledgeDocument.archived_at.is_(None))
    rows = await session.execute(
        select(KnowledgeDocument, DocumentContent)
        .outerjoin(DocumentContent, DocumentContent.id == KnowledgeDocument.content_id)
        .where(*conditions)
        .order_by(KnowledgeDocument.number.desc())
        .limit(limit)
        .offset(offset)
    )
    total = await session.scalar(select(func.count()).select_from(KnowledgeDocument).where(*conditions))
    return [(row[0], row[1]) for row in rows], total or 0


async def find_by_references(
    session: AsyncSession, organization_id: int, refs: Collection[str]
) -> Sequence[KnowledgeDocument]:
    """Returns the documents that references (uuids, or the integers of Dograh's list) name."""
    ids = [uuid_ for ref in refs if (uuid_ := parse_uuid(ref)) is not None]
    numbers = [int(ref) for ref in refs if ref.isdecimal() and len(ref) < 10]
    if not ids and not numbers:
        return []
    in_organization = KnowledgeDocument.organization_id == organization_id
    return (
        await session.scalars(
            select(KnowledgeDocument).where(
                in_organization, KnowledgeDocument.id.in_(ids) | KnowledgeDocument.number.in_(numbers)
            )
        )
    ).all()


async def ids_by_name(session: AsyncSession, organization_id: int, names: Collection[str]) -> dict[str, str]:
    """Returns the ids of the newest documents of these names that are not archived and did not fail."""
    rows = await session.execute(
        select(KnowledgeDocument.name, KnowledgeDocument.id)
        .where(
            KnowledgeDocument.organization_id == organization_id,
            KnowledgeDocument.name.in_(names),
            KnowledgeDocument.archived_at.is_(None),
            KnowledgeDocument.status != "failed",
        )
        .order_by(KnowledgeDocument.number)
    )
    return {name: str(document_id) for name, document_id in rows}


async def find_content(
    session: AsyncSession, organization_id: int, content_id: int, *, for_update: bool = False
) -> DocumentContent | None:
    query = select(DocumentContent).where(
        DocumentContent.organization_id == organization_id, DocumentContent.id == content_id
    )
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def content_of_bytes(session: AsyncSession, organization_id: int, sha256: str) -> DocumentContent | None:
    """Returns the content of these bytes that did not fail, locked."""
    query = (
        select(DocumentContent)
        .where(
            DocumentContent.organization_id == organization_id,
            DocumentContent.sha256 == sha256,
            DocumentContent.state != "failed",
        )
        .with_for_update()
    )
    return (await session.execute(query)).scalar_one_or_none()


async def add_content(session: AsyncSession, organization_id: int, values: Mapping[str, Any]) -> DocumentContent | None:
    """Adds a content; returns None when another transaction added these bytes first."""
    query = (
        insert(DocumentContent)
        .values(organization_id=organization_id, **values)
        .on_conflict_do_nothing()
        .returning(DocumentContent)
    )
    return (await session.execute(query)).scalar_one_or_none()


async def documents_to_settle(
    session: AsyncSession, organization_id: int, content_id: int
) -> Sequence[KnowledgeDocument]:
    """Returns the documents of a content whose status is still processing, and the pages that wait for it, locked."""
    is_waiting = and_(KnowledgeDocument.content_id == content_id, KnowledgeDocument.status == "processing")
    is_read = and_(KnowledgeDocument.next_content_id == content_id, KnowledgeDocument.reading_since.is_not(None))
    query = (
        select(KnowledgeDocument)
        .where(KnowledgeDocument.organization_id == organization_id, or_(is_waiting, is_read))
        .order_by(KnowledgeDocument.number)
        .with_for_update()
    )
    return (await session.scalars(query)).all()


async def store_chunks(
    session: AsyncSession, organization_id: int, content_id: int, pieces: Sequence[JsonObject]
) -> None:
    """Stores pieces with their positions; existing ones stay."""
    await session.execute(
        text(
            "INSERT INTO knowledge_chunks (organization_id, content_id, position, page, heading, text, tokens, words)"
            " SELECT :organization_id, :content_id, position, page, heading, text, tokens,"
            "   knowledge_tsvector(:organization_id, heading || ' ' || text)"
            " FROM jsonb_to_recordset(CAST(:pieces AS jsonb))"
            "   AS piece (position int, page int, heading text, text text, tokens int)"
            " ON CONFLICT (content_id, position) DO NOTHING"
        ),
        {"organization_id": organization_id, "content_id": content_id, "pieces": json.dumps(pieces)},
    )


async def chunks_without_vectors(
    session: AsyncSession, organization_id: int, content_id: int, space_id: int, limit: int
) -> Sequence[Any]:
    """Returns ``(id, heading, text)`` of the next pieces to embed."""
    there = select(KnowledgeVector.chunk_id).where(
        KnowledgeVector.space_id == space_id, KnowledgeVector.chunk_id == KnowledgeChunk.id
    )
    rows = await session.execute(
        select(KnowledgeChunk.id, KnowledgeChunk.heading, KnowledgeChunk.text)
        .where(
            KnowledgeChunk.organization_id == organization_id, KnowledgeChunk.content_id == content_id, ~there.exists()
        )
        .order_by(KnowledgeChunk.position)
        .limit(limit)
    )
    return rows.all()


async def vectors_of_content(session: AsyncSession, organization_id: int, content_id: int, space_id: int) -> int:
    """Counts the pieces of a content that have vectors in the space."""
    in_organization = VectorSpace.organization_id == organization_id
    query = (
        select(func.count())
        .select_from(KnowledgeVector)
        .join(VectorSpace, VectorSpace.id == KnowledgeVector.space_id)
        .where(in_organization, KnowledgeVector.space_id == space_id, KnowledgeVector.content_id == content_id)
    )
    return await session.scalar(query) or 0


async def store_vectors(
    session: AsyncSession, organization_id: int, content_id: int, space_id: int, vectors: Sequence[tuple[int, str]]
) -> None:
    """Stores ``(chunk id, vector as text)`` of pieces of the organization; existing ones stay."""
    await session.execute(
        text(
            "INSERT INTO knowledge_vectors (space_id, chunk_id, content_id, embedding)"
            " SELECT space.id, piece.id, :content_id, CAST(piece.vector AS halfvec)"
            " FROM unnest(CAST(:ids AS bigint[]), CAST(:vectors AS text[])) AS piece (id, vector)"
            " JOIN knowledge_spaces space ON space.id = :space_id AND space.organization_id = :organization_id"
            # those of a page that was read again may be gone
            " JOIN knowledge_chunks chunk ON chunk.id = piece.id"
            " ON CONFLICT DO NOTHING"
        ),
        {
            "space_id": space_id,
            "organization_id": organization_id,
            "content_id": content_id,
            "ids": [chunk_id for chunk_id, _ in vectors],
            "vectors": [vector for _, vector in vectors],
        },
    )


async def count_terms(session: AsyncSession, organization_id: int, content_id: int) -> None:
    """Adds a content's stems to the organization's counts: once, when it becomes ready."""
    await _add_to_counts(session, organization_id, content_id, 1)


async def uncount_terms(session: AsyncSession, organization_id: int, content_id: int) -> None:
    """Subtracts the stems of a content that is about to be deleted from the counts."""
    await _add_to_counts(session, organization_id, content_id, -1)
    await session.execute(
        delete(KnowledgeTerm).where(KnowledgeTerm.organization_id == organization_id, KnowledgeTerm.chunks <= 0)
    )


async def _add_to_counts(session: AsyncSession, organization_id: int, content_id: int, times: int) -> None:
    await session.execute(
        text(
            "INSERT INTO knowledge_terms AS known (organization_id, term, chunks)"
            " SELECT :organization_id, lexeme, CAST(:times AS int) * count(*) FROM ("
            "   SELECT (unnest(words)).lexeme FROM knowledge_chunks"
            "   WHERE organization_id = :organization_id AND content_id = :content_id) AS found"
            " GROUP BY lexeme ORDER BY lexeme"
            " ON CONFLICT (organization_id, term) DO UPDATE SET chunks = known.chunks + excluded.chunks"
        ),
        {"organization_id": organization_id, "content_id": content_id, "times": times},
    )


async def forget_notices(session: AsyncSession, organization_id: int) -> None:
    """Clears the notices of ready contents once all their pieces have vectors."""
    await session.execute(
        update(DocumentContent)
        .where(
            DocumentContent.organization_id == organization_id,
            DocumentContent.state == "ready",
            DocumentContent.error.is_not(None),
        )
        .values(error=None)
    )


async def forget_chunks(session: AsyncSession, organization_id: int, content_id: int) -> None:
    """Deletes the pieces of a content that failed."""
    await session.execute(
        delete(KnowledgeChunk).where(
            KnowledgeChunk.organization_id == organization_id, KnowledgeChunk.content_id == content_id
        )
    )


async def mark_progress(session: AsyncSession, organization_id: int, content_id: int, progress: float) -> None:
    """Records a worker's progress, which only grows."""
    await session.execute(
        update(DocumentContent)
        .where(DocumentContent.organization_id == organization_id, DocumentContent.id == content_id)
        .values(touched_at=func.clock_timestamp(), progress=func.greatest(DocumentContent.progress, progress))
    )


async def active_space(session: AsyncSession, organization_id: int, *, for_update: bool = False) -> VectorSpace | None:
    """Returns the space that is searched."""
    query = select(VectorSpace).where(VectorSpace.organization_id == organization_id, VectorSpace.state == "active")
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def find_usable(
    session: AsyncSession, organization_id: int, refs: Collection[str]
) -> list[tuple[KnowledgeDocument, DocumentContent]]:
    """Returns the documents that agents may use now, shortest first."""
    ids = [document.id for document in await find_by_references(session, organization_id, refs)]
    if not ids:
        return []
    rows = await session.execute(
        select(KnowledgeDocument, DocumentContent)
        .join(DocumentContent, DocumentContent.id == KnowledgeDocument.content_id)
        .where(
            KnowledgeDocument.organization_id == organization_id,
            KnowledgeDocument.id.in_(ids),
            KnowledgeDocument.status == "ready",
            KnowledgeDocument.archived_at.is_(None),
        )
        .order_by(DocumentContent.tokens, KnowledgeDocument.number)
    )
    return [(row[0], row[1]) for row in rows]


async def first_texts(
    session: AsyncSession, organization_id: int, content_ids: Collection[int], *, limit: int
) -> list[str]:
    """Returns headings and texts of the first ``limit`` chunks, those with which each content begins first."""
    rows = await session.execute(
        select(KnowledgeChunk.heading, KnowledgeChunk.text)
        .where(
            KnowledgeChunk.organization_id == organization_id,
            KnowledgeChunk.content_id.in_(content_ids),
            # no later one can be among them, and the index leads to these alone
            KnowledgeChunk.position < limit,
        )
        .order_by(KnowledgeChunk.position, KnowledgeChunk.content_id)
        .limit(limit)
    )
    return [f"{heading or ''}\n{body}".strip() for heading, body in rows]


async def whole_text(session: AsyncSession, organization_id: int, content_id: int) -> str:
    """Returns the text of a content with each heading once."""
    rows = await session.execute(
        select(KnowledgeChunk.heading, KnowledgeChunk.text)
        .where(KnowledgeChunk.organization_id == organization_id, KnowledgeChunk.content_id == content_id)
        .order_by(KnowledgeChunk.position)
    )
    parts: list[str] = []
    above = ""
    for heading, body in rows:
        parts.append(f"{heading}\n{body}" if heading and heading != above else body)
        above = heading
    return "\n\n".join(parts)
