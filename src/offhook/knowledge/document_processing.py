"""The job that reads, splits and embeds a file; each step can repeat after a crash without doing its work twice."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, StorageUnavailable
from offhook.knowledge import repository
from offhook.knowledge.document_reader import DocumentReader, DocumentUnreadable
from offhook.knowledge.embedder import TextEmbedder, Vectors
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.errors import EmbeddingFailed, ModelMissing
from offhook.knowledge.jobs import FORGET, INDEX, PROCESS
from offhook.knowledge.limits import MAX_ATTEMPTS
from offhook.knowledge.service import publish_outcome
from offhook.knowledge.tables import DocumentContent
from offhook.knowledge.vectors import vector_spaces
from offhook.knowledge.web_pages.page_state import settle_reading

GIVEN_UP_MESSAGE: Final = "The file could not be processed: the server stopped several times while processing it."
GONE_MESSAGE: Final = "The file is no longer stored. Upload it again."
RETRY_DELAY_S: Final = 15.0
# Progress weights: reading is quick, embedding takes the time.
_READ_PROGRESS: Final = 0.1
_STORE_BATCH: Final = 200
log = structlog.get_logger(__name__)


class DocumentProcessor:
    """Runs the job ``document.process``."""

    def __init__(self, *, db: Database, reader: DocumentReader, embedders: EmbedderRegistry, clock: Clock) -> None:
        self._db = db
        self._reader = reader
        self._embedders = embedders
        self._clock = clock

    async def process_document(self, payload: Mapping[str, int]) -> None:
        content = await self._begin_attempt(payload["organization_id"], payload["content_id"])
        if content is None:
            return
        try:
            if content.chunk_count is None:
                await self._read_file(content)
            while not await self._is_embedded(content):
                pass
        except DocumentUnreadable as error:
            await self._mark_failed(content, str(error))
        except FileGone:
            await self._mark_failed(content, GONE_MESSAGE)
        except StorageUnavailable as error:
            await self._retry_or_fail(content, error.message, is_worth_it=True)
        except ModelMissing as error:
            await self._finish_by_words(content, str(error))
        except EmbeddingFailed as error:
            await self._retry_or_fail(content, str(error), is_worth_it=error.retryable)

    async def _begin_attempt(self, organization_id: int, content_id: int) -> DocumentContent | None:
        """Counts the attempt; returns None when no work is left."""
        async with self._db.transaction() as session:
            content = await repository.find_content(session, organization_id, content_id, for_update=True)
            if content is None:
                return None
            if content.state == "processing" and content.attempts >= MAX_ATTEMPTS:
                content.state, content.error = "failed", GIVEN_UP_MESSAGE
            if content.state != "processing":
                await self._settle_documents(session, content)
                return None
            content.attempts += 1
            content.touched_at = self._clock.now()
            return content

    async def _read_file(self, content: DocumentContent) -> None:
        async with (
            self._reader.read_document(content.organization_id, content.storage_key, content.kind) as found,
            self._db.transaction() as session,
        ):
            locked = await repository.find_content(session, content.organization_id, content.id, for_update=True)
            if locked is None or locked.chunk_count is not None:  # another worker has read it
                content.chunk_count = locked.chunk_count if locked is not None else None
                return
            for batch in found.iter_batches(_STORE_BATCH):
                await repository.store_chunks(session, content.organization_id, content.id, batch)
            locked.pages = found.pages or None
            locked.characters, locked.tokens, locked.chunk_count = found.characters, found.tokens, found.pieces
            locked.progress, locked.touched_at = _READ_PROGRESS, self._clock.now()
        content.chunk_count = found.pieces

    async def _is_embedded(self, content: DocumentContent) -> bool:
        """Embeds pieces without a vector in the searched space; False if another space is searched by then."""
        embedder = await self._embedders.current_embedder(content.organization_id)
        async with self._db.transaction() as session:
            space = await vector_spaces.get_searched_space(session, content.organization_id, embedder.model)
            done = await repository.vectors_of_content(session, content.organization_id, content.id, space.id)
        if vector_spaces.space_model(space) != embedder.model:
            other = await self._embedders.embedder_for(content.organization_id, vector_spaces.space_model(space))
            if other is None:
                raise EmbeddingFailed(vector_spaces.MOVING_MESSAGE, retryable=True)
            embedder = other
        total = max(content.chunk_count or 1, 1)
        while count := await embed_next_chunks(self._db, embedder, content.organization_id, content.id, space.id):
            done += count
            async with self._db.transaction() as session:
                progress = _READ_PROGRESS + (1 - _READ_PROGRESS) * min(done / total, 1.0)
                await repository.mark_progress(session, content.organization_id, content.id, progress)
        return await self._finish_with_vectors(content, space.id)

    async def _finish_with_vectors(self, content: DocumentContent, space_id: int) -> bool:
        organization_id = content.organization_id
        async with self._db.transaction() as session:
            active = await repository.active_space(session, organization_id, for_update=True)
            if active is None or active.id != space_id:
                return False
            locked = await repository.find_content(session, organization_id, content.id, for_update=True)
            if locked is None:
                return True
            if locked.state == "processing":
                locked.state, locked.progress, locked.error = "ready", 1.0, None
                await repository.count_terms(session, organization_id, content.id)
            await self._settle_documents(session, locked)
            if not active.has_index and await vector_spaces.is_large(session, organization_id, space_id):
                payload = {"organization_id": organization_id, "space_id": space_id}
                await enqueue(session, INDEX, payload, dedupe_key=f"{INDEX}:{space_id}")
        log.info("document_ready", content_id=content.id, chunks=content.chunk_count)
        return True

    async def _finish_by_words(self, content: DocumentContent, sentence: str) -> None:
        """Marks a content as ready, with a notice that it has no vectors; re-embedding adds them later."""
        async with self._db.transaction() as session:
            locked = await repository.find_content(session, content.organization_id, content.id, for_update=True)
            if locked is None:
                return
            if locked.state == "processing":
                locked.state, locked.progress, locked.error = "ready", 1.0, sentence
                await repository.count_terms(session, content.organization_id, content.id)
            await self._settle_documents(session, locked)
        log.warning("document_without_vectors", content_id=content.id, reason=sentence)

    async def _retry_or_fail(self, content: DocumentContent, sentence: str, *, is_worth_it: bool) -> None:
        """Retries later, because a vendor or a bucket may come back, or gives up."""
        if not is_worth_it or content.attempts >= MAX_ATTEMPTS:
            await self._mark_failed(content, sentence)
            return
        log.warning("document_waits", content_id=content.id, error=sentence)
        async with self._db.transaction() as session:
            payload = {"organization_id": content.organization_id, "content_id": content.id}
            await enqueue(session, PROCESS, payload, delay_s=RETRY_DELAY_S * 2 ** (content.attempts - 1))

    async def _mark_failed(self, content: DocumentContent, sentence: str) -> None:
        async with self._db.transaction() as session:
            locked = await repository.find_content(session, content.organization_id, content.id, for_update=True)
            if locked is None:
                return
            if locked.state == "processing":
                locked.state, locked.error, locked.chunk_count = "failed", sentence, None
                await repository.forget_chunks(session, content.organization_id, content.id)
            await self._settle_documents(session, locked)
        log.info("document_failed", content_id=content.id, reason=sentence)

    async def _settle_documents(self, session: AsyncSession, content: DocumentContent) -> None:
        """Gives the documents that wait for a content its state and publishes their events."""
        now = self._clock.now()
        for document in await repository.documents_to_settle(session, content.organization_id, content.id):
            was_waiting = document.status == "processing"
            if document.reading_since is None:
                document.status, document.updated_at = content.state, now
            elif (unused := settle_reading(document, content, now=now)) is not None:
                payload = {"organization_id": content.organization_id, "content_id": unused}
                await enqueue(session, FORGET, payload)
            if not was_waiting:
                continue
            if content.state == "ready":
                document.ready_at = now
            if document.archived_at is None:
                await publish_outcome(session, document, content)


async def embed_next_chunks(
    db: Database, embedder: TextEmbedder, organization_id: int, content_id: int, space_id: int
) -> int:
    """Embeds the next pieces of a content without a vector in the space; returns their count. Raises EmbeddingFailed."""
    async with db.transaction() as session:
        rows = await repository.chunks_without_vectors(
            session, organization_id, content_id, space_id, embedder.batch_size
        )
    if not rows:
        return 0
    vectors = await embedder.embed_passages([f"{row.heading}\n{row.text}" if row.heading else row.text for row in rows])
    async with db.transaction() as session:
        pairs = list(zip([row.id for row in rows], vectors_as_text(vectors), strict=True))
        await vector_spaces.note_dimensions(session, organization_id, space_id, vectors.shape[1])
        await repository.store_vectors(session, organization_id, content_id, space_id, pairs)
    return len(rows)


def vectors_as_text(vectors: Vectors) -> Sequence[str]:
    """Returns vectors as PostgreSQL reads them; a half-precision number has no more digits."""
    return [json.dumps(row) for row in vectors.astype("float64").round(5).tolist()]
