"""Statements on vector spaces and their vectors."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Select, delete, exists, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.tables import DocumentContent, KnowledgeChunk, KnowledgeVector, VectorSpace

_DELETE_BATCH: Final = 5_000


async def find_space(session: AsyncSession, organization_id: int, space_id: int) -> VectorSpace | None:
    query = select(VectorSpace).where(VectorSpace.organization_id == organization_id, VectorSpace.id == space_id)
    return (await session.execute(query)).scalar_one_or_none()


async def insert_first_space(session: AsyncSession, organization_id: int, model: EmbeddingModel) -> None:
    """Adds an active space for this model, unless the organization has one."""
    await session.execute(
        insert(VectorSpace)
        .values(
            organization_id=organization_id,
            provider=model.provider,
            model=model.model,
            base_url=model.base_url,
            state="active",
        )
        .on_conflict_do_nothing()
    )


async def upsert_building_space(session: AsyncSession, organization_id: int, model: EmbeddingModel) -> VectorSpace:
    """Returns the space of this model in the state ``building``."""
    values = {"provider": model.provider, "model": model.model, "base_url": model.base_url}
    await session.execute(
        insert(VectorSpace)
        .values(organization_id=organization_id, **values, state="building")
        .on_conflict_do_update(
            index_elements=["organization_id", "provider", "model", "base_url"], set_={"state": "building"}
        )
    )
    query = select(VectorSpace).where(VectorSpace.organization_id == organization_id).filter_by(**values)
    return (await session.execute(query)).scalar_one()


async def has_vectors(session: AsyncSession, organization_id: int, space_id: int, minimum: int) -> bool:
    """Returns True for a space with at least ``minimum`` vectors."""
    some = (
        select(KnowledgeVector.chunk_id)
        .join(VectorSpace, VectorSpace.id == KnowledgeVector.space_id)
        .where(VectorSpace.organization_id == organization_id, KnowledgeVector.space_id == space_id)
        .limit(minimum)
        .subquery()
    )
    return (await session.scalar(select(func.count()).select_from(some)) or 0) >= minimum


async def mark_indexed(session: AsyncSession, organization_id: int, space_id: int) -> None:
    await session.execute(
        update(VectorSpace)
        .where(VectorSpace.organization_id == organization_id, VectorSpace.id == space_id)
        .values(has_index=True)
    )


async def incomplete_contents(session: AsyncSession, organization_id: int, space_id: int) -> Sequence[int]:
    """Returns the ids of contents that are ready and have a piece without a vector in the space."""
    return (await session.scalars(_incomplete(organization_id, space_id).order_by(DocumentContent.id))).all()


async def is_incomplete(session: AsyncSession, organization_id: int, space_id: int) -> bool:
    return bool(await session.scalar(select(_incomplete(organization_id, space_id).exists())))


async def retired_spaces(session: AsyncSession, organization_id: int) -> Sequence[int]:
    statement = select(VectorSpace.id).where(
        VectorSpace.organization_id == organization_id, VectorSpace.state == "retired"
    )
    return (await session.scalars(statement)).all()


async def delete_some_vectors(session: AsyncSession, organization_id: int, space_id: int) -> bool:
    """Deletes a batch of a retired space's vectors; False when there are none left."""
    deleted = await session.execute(
        text(
            "DELETE FROM knowledge_vectors WHERE (chunk_id, space_id) IN ("
            " SELECT v.chunk_id, v.space_id FROM knowledge_vectors v JOIN knowledge_spaces s ON s.id = v.space_id"
            " WHERE v.space_id = :id AND s.organization_id = :organization_id LIMIT :batch) RETURNING 1"
        ),
        {"id": space_id, "organization_id": organization_id, "batch": _DELETE_BATCH},
    )
    return deleted.first() is not None


async def delete_retired_space(session: AsyncSession, organization_id: int, space_id: int) -> None:
    await session.execute(
        delete(VectorSpace).where(
            VectorSpace.organization_id == organization_id, VectorSpace.id == space_id, VectorSpace.state == "retired"
        )
    )


def _incomplete(organization_id: int, space_id: int) -> Select[int]:
    has_vector = exists().where(KnowledgeVector.chunk_id == KnowledgeChunk.id, KnowledgeVector.space_id == space_id)
    return select(DocumentContent.id).where(
        DocumentContent.organization_id == organization_id,
        DocumentContent.state == "ready",
        exists().where(KnowledgeChunk.content_id == DocumentContent.id, ~has_vector),
    )
