"""The vectors of an organization by the model that made them: one space is searched, another may be built meanwhile."""

from typing import Final

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.knowledge import repository
from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.tables import KnowledgeVector, VectorSpace

# Fewer vectors than this are compared one by one: exact, and no slower than an index.
MIN_INDEXED_VECTORS: Final = 5_000
# What an HNSW index of half-precision numbers takes.
MAX_DIMENSIONS: Final = 4_000
MOVING_MESSAGE: Final = "The documents are being moved to another embedding model."
log = structlog.get_logger(__name__)


def space_model(space: VectorSpace) -> EmbeddingModel:
    return EmbeddingModel(space.provider, space.model, space.base_url)


async def get_searched_space(session: AsyncSession, organization_id: int, wanted: EmbeddingModel) -> VectorSpace:
    """The space that is searched; an organization's first one is made for the wanted model."""
    space = await repository.active_space(session, organization_id)
    if space is not None:
        return space
    await session.execute(
        insert(VectorSpace)
        .values(organization_id=organization_id, **_values(wanted), state="active")
        .on_conflict_do_nothing()
    )
    space = await repository.active_space(session, organization_id)
    if space is None:
        raise EmbeddingFailed(MOVING_MESSAGE, retryable=True)
    return space


async def note_dimensions(session: AsyncSession, organization_id: int, space_id: int, dimensions: int) -> None:
    """Remember how long the vectors of a space are. EmbeddingFailed when the model has changed its mind."""
    query = select(VectorSpace).where(VectorSpace.organization_id == organization_id, VectorSpace.id == space_id)
    space = (await session.execute(query)).scalar_one_or_none()
    if space is None:
        raise EmbeddingFailed(MOVING_MESSAGE, retryable=True)
    if dimensions > MAX_DIMENSIONS:
        raise EmbeddingFailed(f"Vectors of more than {MAX_DIMENSIONS} numbers cannot be kept.", retryable=False)
    if space.dimensions is None:
        space.dimensions = dimensions
    elif space.dimensions != dimensions:
        raise EmbeddingFailed(
            "The embedding model answers with vectors of another length than before.", retryable=False
        )


async def is_large(session: AsyncSession, organization_id: int, space_id: int) -> bool:
    """Whether a space has grown beyond what is best compared one by one."""
    some = (
        select(KnowledgeVector.chunk_id)
        .join(VectorSpace, VectorSpace.id == KnowledgeVector.space_id)
        .where(VectorSpace.organization_id == organization_id, KnowledgeVector.space_id == space_id)
        .limit(MIN_INDEXED_VECTORS)
        .subquery()
    )
    return (await session.scalar(select(func.count()).select_from(some)) or 0) >= MIN_INDEXED_VECTORS


def index_name(space_id: int) -> str:
    return f"ix_knowledge_vectors_of_{space_id}"


def _values(model: EmbeddingModel) -> dict[str, str]:
    return {"provider": model.provider, "model": model.model, "base_url": model.base_url}


async def dimensions_to_index(session: AsyncSession, organization_id: int, space_id: int) -> int | None:
    """How long the vectors of a space are; None when it has its index, or is gone."""
    query = select(VectorSpace).where(VectorSpace.organization_id == organization_id, VectorSpace.id == space_id)
    space = (await session.execute(query)).scalar_one_or_none()
    return None if space is None or space.has_index or space.state == "retired" else space.dimensions


async def build_index(db: Database, organization_id: int, space_id: int, dimensions: int) -> None:
    """An HNSW index over the vectors of one space, built beside the work of others; searches use it from then on."""
    name = index_name(space_id)
    await db.run_outside_transaction(
        "SET maintenance_work_mem = '256MB'",
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",  # what a crash left is not valid
        f"CREATE INDEX CONCURRENTLY {name} ON knowledge_vectors"
        f" USING hnsw ((embedding::halfvec({dimensions})) halfvec_ip_ops) WHERE space_id = {space_id}",
        "RESET maintenance_work_mem",
    )
    async with db.transaction() as session:
        await session.execute(
            update(VectorSpace)
            .where(VectorSpace.organization_id == organization_id, VectorSpace.id == space_id)
            .values(has_index=True)
        )
    log.info("vectors_indexed", space_id=space_id)
