"""Deletes a workflow's runs and their files; refuses while one of them is live."""

import asyncio
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.runs.records import repository
from offhook.workflows.errors import WorkflowHasLiveRuns

# Each run may have thousands of events, which are deleted with it.
BATCH: Final = 200


async def refuse_while_live(session: AsyncSession, organization_id: int, workflow_id: int) -> None:
    """Raises WorkflowHasLiveRuns (409) while any run of the workflow is not over."""
    if await repository.has_live_run(session, organization_id, workflow_id):
        raise WorkflowHasLiveRuns


class RunEraser:
    """Deletes a workflow's runs in batches, one per transaction.

    Files go first: a row without its file is harmless, a file without its row would stay forever.
    """

    def __init__(self, db: Database, storage: FileStore) -> None:
        self._db = db
        self._storage = storage

    async def erase_batch(self, organization_id: int, workflow_id: int) -> bool:
        """Deletes one batch and returns whether runs are left."""
        async with self._db.transaction() as session:
            keys = await repository.find_recording_keys(session, organization_id, workflow_id, limit=BATCH)
        await asyncio.gather(*(self._storage.delete(key) for key in keys.values() if key is not None))
        async with self._db.transaction() as session:
            await repository.delete_runs(session, organization_id, keys)
        return len(keys) == BATCH
