"""Maintenance jobs: contents of dead workers, orphaned files, and indexes of large vector spaces."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog

from offhook.jobs.queue import enqueue
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.knowledge import superuser_queries
from offhook.knowledge.embedder_registry import EmbedderRegistry
from offhook.knowledge.jobs import FETCH, PROCESS, REEMBED
from offhook.knowledge.uploads import DocumentIntake
from offhook.knowledge.vectors import vector_spaces

SWEEP_INTERVAL_S: Final = 60.0
# Longer than reading one file, or embedding one batch, can take.
STALE_AFTER: Final = timedelta(minutes=5)
FILES_INTERVAL_S: Final = 86_400.0
# A file is stored before its document exists: after this its request is long over.
ORPHANED_AFTER: Final = timedelta(days=1)
log = structlog.get_logger(__name__)


class KnowledgeMaintenance:
    """The jobs that keep documents, files and vectors in order."""

    def __init__(self, db: Database, clock: Clock, intake: DocumentIntake, embedders: EmbedderRegistry) -> None:
        self._db = db
        self._clock = clock
        self._intake = intake
        self._embedders = embedders

    async def requeue_stale(self, _: JsonObject) -> None:
        """Enqueues contents and pages whose job was lost; the queue itself restarts the jobs of dead workers."""
        async with self._db.transaction() as session:
            for organization_id, content_id in await superuser_queries.stale_contents(
                session, self._clock.now() - STALE_AFTER
            ):
                payload = {"organization_id": organization_id, "content_id": content_id}
                if await enqueue(session, PROCESS, payload, dedupe_key=f"{PROCESS}:{content_id}") is not None:
                    log.warning("document_requeued", content_id=content_id)
            for organization_id, document_id, fetched_id in await superuser_queries.stale_pages(
                session, self._clock.now() - STALE_AFTER
            ):
                if fetched_id is None:
                    page = {"organization_id": organization_id, "document_id": document_id}
                    await enqueue(session, FETCH, page, dedupe_key=f"{FETCH}:{document_id}")
                else:
                    payload = {"organization_id": organization_id, "content_id": fetched_id}
                    await enqueue(session, PROCESS, payload, dedupe_key=f"{PROCESS}:{fetched_id}")

    async def delete_orphaned_files(self, _: JsonObject) -> None:
        """Deletes files that belong to no document."""

        async def known_keys(keys: Sequence[str]) -> set[str]:
            async with self._db.transaction() as session:
                return await superuser_queries.known_keys(session, keys)

        removed = await self._intake.forget_orphans(self._clock.now() - ORPHANED_AFTER, known_keys)
        if removed:
            log.info("orphaned_files_removed", files=removed)

    async def build_space_index(self, payload: Mapping[str, int]) -> None:
        """Builds an HNSW index over the vectors of one space."""
        organization_id, space_id = payload["organization_id"], payload["space_id"]
        async with self._db.transaction() as session:
            dimensions = await vector_spaces.dimensions_to_index(session, organization_id, space_id)
        if dimensions is not None:
            await vector_spaces.build_index(self._db, organization_id, space_id, dimensions)

    async def make_missing_vectors(self) -> None:
        """Enqueues the missing vectors of documents, when a worker with the offline model starts."""
        if not await asyncio.to_thread(self._embedders.offline.is_installed):
            return
        async with self._db.transaction() as session:
            for organization_id in await superuser_queries.organizations_with_notices(session):
                payload = {"organization_id": organization_id, "tries": 1}
                await enqueue(session, REEMBED, payload, dedupe_key=f"{REEMBED}:{organization_id}")
