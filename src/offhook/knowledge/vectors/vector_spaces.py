"""Vector spaces, one for each embedding model of an organization: one is searched while another may be built."""

from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.knowledge import repository
from offhook.knowledge.embedder import EmbeddingModel
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.tables import VectorSpace
from offhook.knowledge.vectors import repository as space_repository

# Fewer vectors than this are compared one by one: exact, and no slower than an index.
MIN_INDEXED_VECTORS: Final = 5_000
# An HNSW index of half-precision numbers takes no more dimensions.
MAX_DIMENSIONS: Final = 4_000
OTHER_LENGTH_MESSAGE: Final = "The embedding model returned vectors of a different length than before."
MOVING_MESSAGE: Final = "The documents are being moved to another embedding model."
log = structlog.get_logger(__name__)


def space_model(space: VectorSpace) -> EmbeddingModel:
    return EmbeddingModel(space.provider, space.model, space.base_url)


async def get_searched_space(session: AsyncSession, organization_id: int, model: EmbeddingModel) -> VectorSpace:
    """Returns the space that is searched; an organization's first one is created for ``model``."""
    space = await repository.active_space(session, organization_id)
    if space is not None:
        return space
    await space_repository.insert_first_space(session, organization_id, model)
    space = await repository.active_space(session, organization_id)
    if space is None:
        raise EmbeddingFailed(MOVING_MESSAGE, retryable=True)
    return space


async def note_dimensions(session: AsyncSession, organization_id: int, space_id: int, dimensions: int) -> None:
    """Stores the length of a space's vectors. Raises EmbeddingFailed when the model returns another length than before."""
    space = await space_repository.find_space(session, organization_id, space_id)
    if space is None:
        raise EmbeddingFailed(MOVING_MESSAGE, retryable=True)
    if dimensions > MAX_DIMENSIONS:
        raise EmbeddingFailed(f"Embedding models are limited to {MAX_DIMENSIONS} dimensions.", retryable=False)
    if space.dimensions is None:
        space.dimensions = dimensions
    elif space.dimensions != dimensions:
        raise EmbeddingFailed(OTHER_LENGTH_MESSAGE, retryable=False)


async def is_large(session: AsyncSession, organization_id: int, space_id: int) -> bool:
    """Returns True when a space is too large for an exact scan."""
    return await space_repository.has_vectors(session, organization_id, space_id, MIN_INDEXED_VECTORS)


async def drop_index(db: Database, space_id: int) -> None:
    """Drops the index of a space, if it has one."""
    await db.run_outside_transaction(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(space_id)}")


def index_name(space_id: int) -> str:
    return f"ix_knowledge_vectors_of_{space_id}"


async def dimensions_to_index(session: AsyncSession, organization_id: int, space_id: int) -> int | None:
    """Returns the length of a space's vectors; None when it already has its index, or is gone."""
    space = await space_repository.find_space(session, organization_id, space_id)
    return None if space is None or space.has_index or space.state == "retired" else space.dimensions


async def build_index(db: Database, organization_id: int, space_id: int, dimensions: int) -> None:
    """Builds an HNSW index over the vectors of one space without blocking others; searches use it from then on."""
    name = index_name(space_id)
    await db.run_outside_transaction(
        "SET maintenance_work_mem = '256MB'",
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",  # a crash leaves an invalid index
        f"CREATE INDEX CONCURRENTLY {name} ON knowledge_vectors"
        f" USING hnsw ((embedding::halfvec({dimensions})) halfvec_ip_ops) WHERE space_id = {space_id}",
        "RESET maintenance_work_mem",
    )
    async with db.transaction() as session:
        await space_repository.mark_indexed(session, organization_id, space_id)
    log.info("vectors_indexed", space_id=space_id)
