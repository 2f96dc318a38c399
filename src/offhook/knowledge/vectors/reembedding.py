"""Re-embedding after a change of the embedding model: searches use the old vectors until all new ones exist."""

from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.database.database import Database
from offhook.knowledge import repository
from offhook.knowledge.document_processing import embed_next_chunks
from offhook.knowledge.embedder import TextEmbedder
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed
from offhook.knowledge.jobs import REEMBED
from offhook.knowledge.tables import VectorSpace
from offhook.knowledge.vectors import repository as space_repository
from offhook.knowledge.vectors import vector_spaces

MAX_TRIES: Final = 8
RETRY_DELAY_S: Final = 30.0
log = structlog.get_logger(__name__)


async def enqueue_reembedding(session: AsyncSession, organization_id: int) -> None:
    """Starts the job in the transaction that changed the model configuration."""
    await enqueue(session, REEMBED, {"organization_id": organization_id, "tries": 1})


class ReembeddingJob:
    """Runs the job ``documents.reembed``. Without a change of the model it adds the missing vectors of documents that
    became ready while there was no model.
    """

    def __init__(self, db: Database, embedders: EmbedderRegistry) -> None:
        self._db = db
        self._embedders = embedders

    async def run_job(self, payload: Mapping[str, int]) -> None:
        organization_id, tries = payload["organization_id"], payload["tries"]
        try:
            await self._reembed_documents(organization_id)
        except EmbeddingFailed as error:
            log.warning("documents_not_reembedded", organization_id=organization_id, error=str(error))
            if error.retryable and tries < MAX_TRIES:
                async with self._db.transaction() as session:
                    again = {"organization_id": organization_id, "tries": tries + 1}
                    await enqueue(session, REEMBED, again, delay_s=RETRY_DELAY_S * 2 ** (tries - 1))
        await self._delete_retired(organization_id)

    async def _reembed_documents(self, organization_id: int) -> None:
        embedder = await self._embedders.current_embedder(organization_id)
        async with self._db.transaction() as session:
            active = await repository.active_space(session, organization_id)
            if active is None:
                return
            is_same = vector_spaces.space_model(active) == embedder.model
            target = (
                active
                if is_same
                else await space_repository.upsert_building_space(session, organization_id, embedder.model)
            )
        while not await self._is_switched(organization_id, target.id, embedder):
            for content_id in await self._contents_to_embed(organization_id, target.id):
                while await embed_next_chunks(self._db, embedder, organization_id, content_id, target.id):
                    pass
        if not is_same:
            log.info("documents_reembedded", organization_id=organization_id, model=embedder.model.model)

    async def _contents_to_embed(self, organization_id: int, space_id: int) -> Sequence[int]:
        async with self._db.transaction() as session:
            return await space_repository.incomplete_contents(session, organization_id, space_id)

    async def _is_switched(self, organization_id: int, space_id: int, embedder: TextEmbedder) -> bool:
        """Switches searches to the new space if every vector exists.

        Raises EmbeddingFailed when another model was chosen in the meantime.
        """
        async with self._db.transaction() as session:
            if await vector_spaces.is_large(session, organization_id, space_id):
                dimensions = await vector_spaces.dimensions_to_index(session, organization_id, space_id)
            else:
                dimensions = None
        if dimensions is not None and not await self._contents_to_embed(organization_id, space_id):
            await vector_spaces.build_index(self._db, organization_id, space_id, dimensions)
        if (await self._embedders.current_embedder(organization_id)).model != embedder.model:
            raise EmbeddingFailed("Another embedding model was chosen.", retryable=False)
        async with self._db.transaction() as session:
            active = await repository.active_space(session, organization_id, for_update=True)
            if await space_repository.is_incomplete(session, organization_id, space_id):
                return False
            if active is not None and active.id != space_id:
                active.state = "retired"
                await session.flush()  # the unique index allows one active space at any moment
            target = await session.get_one(VectorSpace, space_id)
            target.state = "active"
            await repository.forget_notices(session, organization_id)
            return True

    async def _delete_retired(self, organization_id: int) -> None:
        async with self._db.transaction() as session:
            space_ids = await space_repository.retired_spaces(session, organization_id)
        for space_id in space_ids:
            await vector_spaces.drop_index(self._db, space_id)
            is_empty = False
            while not is_empty:
                async with self._db.transaction() as session:
                    is_empty = not await space_repository.delete_some_vectors(session, organization_id, space_id)
            async with self._db.transaction() as session:
                await space_repository.delete_retired_space(session, organization_id, space_id)
