"""Jobs that look after what processing leaves: contents of dead workers, spaces that have grown."""

from datetime import timedelta
from typing import Any, Final

import structlog

from offhook.jobs.queue import enqueue
from offhook.jobs.registry import Handler
from offhook.knowledge import across, spaces
from offhook.knowledge.jobs import PROCESS
from offhook.root import Root

SWEEP_EVERY_S: Final = 60.0
# Longer than reading one file, or embedding one batch, can take.
STALE: Final = timedelta(minutes=5)
log = structlog.get_logger(__name__)


def sweep_handler(root: Root) -> Handler:
    async def sweep(_: dict[str, Any]) -> None:
        """The queue starts a dead worker's jobs again; this is for jobs that are gone altogether."""
        async with root.db.transaction() as session:
            for organization_id, content_id in await across.stale_contents(session, root.clock.now() - STALE):
                payload = {"organization_id": organization_id, "content_id": content_id}
                if await enqueue(session, PROCESS, payload, dedupe_key=f"{PROCESS}:{content_id}") is not None:
                    log.warning("document_taken_up_again", content_id=content_id)

    return sweep


def index_handler(root: Root) -> Handler:
    async def index(payload: dict[str, Any]) -> None:
        """An HNSW index over the vectors of one space, built beside the work of others."""
        organization_id, space_id = payload["organization_id"], payload["space_id"]
        async with root.db.transaction() as session:
            dimensions = await spaces.dimensions_to_index(session, organization_id, space_id)
        if dimensions is not None:
            await spaces.build_index(root.db, organization_id, space_id, dimensions)

    return index
