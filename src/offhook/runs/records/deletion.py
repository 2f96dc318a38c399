"""Deletes runs and their files, one or all of a workflow; refuses what is live."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, FileStore
from offhook.orgs import ADMINS, Caller, as_begun, hold_access, write_audit_entry
from offhook.runs.errors import RunInProgress, RunNotFound
from offhook.runs.records import repository, retention_queries
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run
from offhook.workflows.errors import WorkflowHasLiveRuns

# Each run may have thousands of events, which are deleted with it.
BATCH: Final = 200
_RECORDINGS: Final = "recordings"


async def refuse_while_live(session: AsyncSession, caller: Caller, workflow_id: int) -> None:
    """Raises WorkflowHasLiveRuns (409) while any run of the workflow is not over."""
    if await repository.has_live_run(session, caller.organization_id, workflow_id):
        raise WorkflowHasLiveRuns


async def require_admin_for_history(session: AsyncSession, caller: Caller, workflow_id: int) -> None:
    """Raises Forbidden (403) when the workflow has runs, whose recordings would go with it, and the caller is no admin."""
    if caller.role not in ADMINS and await repository.has_run(session, caller.organization_id, workflow_id):
        raise Forbidden("This agent has runs, which are deleted with it. This requires the admin role.")


@dataclass(frozen=True, slots=True)
class RunDeletion:
    """What was deleted; its entry in the audit log has the same."""

    run_id: int
    events: int
    has_recording: bool
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class ErasedRuns:
    runs: int
    events: int
    recordings: int


class RunEraser:
    """Deletes one run, or a workflow's runs in batches, one per transaction.

    Files go first: a row without its file is harmless, a file without its row would stay forever.
    """

    def __init__(self, db: Database, storage: FileStore, clock: Clock) -> None:
        self._db = db
        self._storage = storage
        self._clock = clock

    async def erase_run(self, caller: Caller, workflow_id: int, run_id: int) -> RunDeletion:
        """Deletes a run that is over with its recording, transcript, events and notes. What it cost stays.

        Raises RunNotFound (404), RunInProgress (409).
        """
        async with self._db.transaction() as session:
            await hold_access(session, caller)
            recording_key = (await _get_finished_run(session, caller, workflow_id, run_id)).recording_key
        has_recording = recording_key is not None and await self._has_file(recording_key)
        if recording_key is not None:
            await self._storage.delete(recording_key)
        async with self._db.transaction() as session:
            await _get_finished_run(session, caller, workflow_id, run_id)
            events = await repository.count_events(session, caller.organization_id, run_id)
            await repository.delete_runs(session, caller.organization_id, [run_id])
            done = RunDeletion(run_id, events, has_recording, self._clock.now())
            counts = {"workflow_id": workflow_id, "events": events, "has_recording": has_recording}
            await write_audit_entry(session, as_begun(caller), "run.deleted", f"run:{run_id}", counts)
        return done

    async def erase_batch(self, organization_id: int, workflow_id: int) -> bool:
        """Deletes one batch and returns whether runs are left."""
        async with self._db.transaction() as session:
            keys = await repository.find_recording_keys(session, organization_id, workflow_id, limit=BATCH)
        await asyncio.gather(*(self._storage.delete(key) for key in keys.values() if key is not None))
        async with self._db.transaction() as session:
            await repository.delete_runs(session, organization_id, keys)
        return len(keys) == BATCH

    async def erase_runs(
        self,
        organization_id: int,
        run_ids: Collection[int],
        on_erased: Callable[[AsyncSession, ErasedRuns], Awaitable[None]] | None = None,
    ) -> ErasedRuns:
        """Deletes these runs, which are over, with their recordings. The caller writes the audit entry; ``on_erased`` is
        called in the transaction."""
        recordings = await self._delete_recordings(organization_id, run_ids)
        async with self._db.transaction() as session:
            events = 0
            for run_id in run_ids:
                events += await repository.count_events(session, organization_id, run_id)
            await repository.delete_runs(session, organization_id, run_ids)
            erased = ErasedRuns(len(run_ids), events, recordings)
            if on_erased is not None:
                await on_erased(session, erased)
        return erased

    async def erase_recordings(self, organization_id: int, run_ids: Collection[int]) -> int:
        """Deletes the recordings of these runs, which are over, and returns how many there were."""
        recordings = await self._delete_recordings(organization_id, run_ids)
        async with self._db.transaction() as session:
            await retention_queries.forget_recordings(session, organization_id, run_ids)
        return recordings

    async def _delete_recordings(self, organization_id: int, run_ids: Collection[int]) -> int:
        async with self._db.transaction() as session:
            keys = await repository.find_recording_keys_of_runs(session, organization_id, run_ids)
        # A call that ended a moment ago may not have its key yet.
        folder_keys = {run_id: f"{_RECORDINGS}/{organization_id}/{run_id}.wav" for run_id in run_ids}
        named = [key for key in {*keys.values(), *folder_keys.values()} if key is not None]
        recordings = sum(await asyncio.gather(*(self._has_file(key) for key in named)))
        await asyncio.gather(*(self._storage.delete(key) for key in named))
        return recordings

    async def _has_file(self, key: str) -> bool:
        try:
            await self._storage.find_file(key)
        except FileGone:
            return False
        return True


async def _get_finished_run(session: AsyncSession, caller: Caller, workflow_id: int, run_id: int) -> Run:
    run = await repository.lock_run(session, caller.organization_id, run_id)
    if run is None or run.workflow_id != workflow_id:
        raise RunNotFound
    # A leased run is still being completed: its recording would be written again.
    if run.status in LIVE_STATES or run.is_leased:
        raise RunInProgress
    return run
