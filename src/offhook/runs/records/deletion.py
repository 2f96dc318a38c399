"""What deleting a workflow does to its runs: refused while one is live, then all of them go, with their files."""

import asyncio
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.files.storage import LocalFileStorage
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run
from offhook.workflows.errors import WorkflowHasLiveRuns

# Each run may have thousands of events, which go with it.
BATCH: Final = 200


async def refuse_while_live(session: AsyncSession, organization_id: int, workflow_id: int) -> None:
    """WorkflowHasLiveRuns (409)."""
    live = await session.scalar(
        select(Run.id)
        .where(
            Run.organization_id == organization_id, Run.workflow_id == workflow_id, Run.status.in_(sorted(LIVE_STATES))
        )
        .limit(1)
    )
    if live is not None:
        raise WorkflowHasLiveRuns


class RunEraser:
    """Removes the runs of a deleted workflow, a batch a transaction. Files go first: a row without its file is harmless,
    a file without its row would stay for ever."""

    def __init__(self, db: Database, storage: LocalFileStorage) -> None:
        self._db = db
        self._storage = storage

    async def erase_batch(self, organization_id: int, workflow_id: int) -> bool:
        """Whether more is left."""
        mine = (Run.organization_id == organization_id, Run.workflow_id == workflow_id)
        async with self._db.transaction() as session:
            rows = (await session.execute(select(Run.id, Run.recording_key).where(*mine).limit(BATCH))).all()
        keys = [row.recording_key for row in rows if row.recording_key is not None]
        await asyncio.to_thread(_unlink_files, [self._storage.path_for(key) for key in keys])
        async with self._db.transaction() as session:
            await session.execute(delete(Run).where(*mine, Run.id.in_([row.id for row in rows])))
        return len(rows) == BATCH


def _unlink_files(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
