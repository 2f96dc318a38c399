"""Another embedding model: all vectors are made anew beside the old ones, which are searched until the last is there."""

from typing import Any, Final

import structlog
from sqlalchemy import exists, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.database.database import Database
from offhook.knowledge import repository, vector_spaces
from offhook.knowledge.document_processing import embed_next_chunks
from offhook.knowledge.embedder import EmbeddingModel, TextEmbedder
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.jobs import REEMBED
from offhook.knowledge.tables import DocumentContent, KnowledgeChunk, KnowledgeVector, VectorSpace
from offhook.knowledge.vector_spaces import build_index

MAX_TRIES: Final = 8
RETRY_DELAY_S: Final = 30.0
_FORGET_BATCH: Final = 5_000
log = structlog.get_logger(__name__)


async def enqueue_reembedding(session: AsyncSession, organization_id: int) -> None:
    """A hook of the model configuration: have the vectors looked at, in the transaction that changed it."""
    await enqueue(session, REEMBED, {"organization_id": organization_id, "tries": 1})


class ReembeddingJob:
    """One per process. ``handle`` is the job ``documents.reembed``; without another model it makes the vectors that are
    missing, of documents that became ready while there was no model."""

    def __init__(self, db: Database, embedders: EmbedderRegistry) -> None:
        self._db = db
        self._embedders = embedders

    async def run_job(self, payload: dict[str, Any]) -> None:
        organization_id, tries = payload["organization_id"], payload["tries"]
        try:
            await self._reembed_documents(organization_id)
        except EmbeddingFailed as error:
            log.warning("documents_not_reembedded", organization_id=organization_id, error=str(error))
            if error.retryable and tries < MAX_TRIES:
                async with self._db.transaction() as session:
                    again = {"organization_id": organization_id, "tries": tries + 1}
                    await enqueue(session, REEMBED, again, delay_s=RETRY_DELAY_S * 2 ** (tries - 1))
        await self._forget_retired(organization_id)

    async def _reembed_documents(self, organization_id: int) -> None:
        embedder = await self._embedders.current_embedder(organization_id)
        async with self._db.transaction() as session:
            active = await repository.active_space(session, organization_id)
            if active is None:
                return
            is_same = vector_spaces.space_model(active) == embedder.model
            target = active if is_same else await _upsert_building_space(session, organization_id, embedder.model)
        while not await self._is_switched(organization_id, target.id, embedder):
            for content_id in await self._contents_to_embed(organization_id, target.id):
                while await embed_next_chunks(self._db, embedder, organization_id, content_id, target.id):
                    pass
        if not is_same:
            log.info("documents_reembedded", organization_id=organization_id, model=embedder.model.model)

    async def _contents_to_embed(self, organization_id: int, space_id: int) -> list[int]:
        async with self._db.transaction() as session:
            found = await session.scalars(_incomplete_contents(organization_id, space_id).order_by(DocumentContent.id))
            return list(found)

    async def _is_switched(self, organization_id: int, space_id: int, embedder: TextEmbedder) -> bool:
        """Search the new space from now on, if every vector is there. EmbeddingFailed: another model was chosen meanwhile."""
        async with self._db.transaction() as session:
            if await vector_spaces.is_large(session, organization_id, space_id):
                dimensions = await vector_spaces.dimensions_to_index(session, organization_id, space_id)
            else:
                dimensions = None
        if dimensions is not None and not await self._contents_to_embed(organization_id, space_id):
            await build_index(self._db, organization_id, space_id, dimensions)
        if (await self._embedders.current_embedder(organization_id)).model != embedder.model:
            raise EmbeddingFailed("Another model was chosen meanwhile.", retryable=False)
        async with self._db.transaction() as session:
            active = await repository.active_space(session, organization_id, for_update=True)
            if await session.scalar(select(_incomplete_contents(organization_id, space_id).exists())):
                return False
            if active is not None and active.id != space_id:
                active.state = "retired"
                await session.flush()  # at most one is active at any moment, says the index
            target = await session.get_one(VectorSpace, space_id)
            target.state = "active"
            await repository.forget_notices(session, organization_id)
            return True

    async def _forget_retired(self, organization_id: int) -> None:
        async with self._db.transaction() as session:
            mine = VectorSpace.organization_id == organization_id
            retired = list(await session.scalars(select(VectorSpace.id).where(mine, VectorSpace.state == "retired")))
        for space_id in retired:
            await self._db.run_outside_transaction(
                f"DROP INDEX CONCURRENTLY IF EXISTS {vector_spaces.index_name(space_id)}"
            )
            while await self._forget_some(space_id):
                pass
            async with self._db.transaction() as session:
                await session.execute(
                    text("DELETE FROM knowledge_spaces WHERE id = :id AND state = 'retired'"), {"id": space_id}
                )

    async def _forget_some(self, space_id: int) -> bool:
        async with self._db.transaction() as session:
            gone = await session.execute(
                text(
                    "DELETE FROM knowledge_vectors WHERE (chunk_id, space_id) IN ("
                    " SELECT chunk_id, space_id FROM knowledge_vectors WHERE space_id = :id LIMIT :some) RETURNING 1"
                ),
                {"id": space_id, "some": _FORGET_BATCH},
            )
            return gone.first() is not None


async def _upsert_building_space(session: AsyncSession, organization_id: int, model: EmbeddingModel) -> VectorSpace:
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


def _incomplete_contents(organization_id: int, space_id: int) -> Any:
    """Ids of contents that are ready and have a piece without a vector in the space."""
    has_vector = exists().where(KnowledgeVector.chunk_id == KnowledgeChunk.id, KnowledgeVector.space_id == space_id)
    return select(DocumentContent.id).where(
        DocumentContent.organization_id == organization_id,
        DocumentContent.state == "ready",
        exists().where(KnowledgeChunk.content_id == DocumentContent.id, ~has_vector),
    )
