"""Moves finished recordings from this machine to the bucket, including those of a process that died."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.crypto import SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.files.file_store import StorageUnavailable
from offhook.kit.tasks import TaskTracker
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records import repository

FOLDER: Final = "recordings"
# Three times the longest call: a call without audio writes nothing, and its file must not be taken from it.
ABANDONED_AFTER_S: Final = 3600.0
SWEEP_INTERVAL_S: Final = 60.0
log = structlog.get_logger(__name__)


class RecordingSpool:
    """One per process. Does nothing where recordings stay in their local folder.

    A run may be deleted while its recording waits here; then the file is deleted, too.
    """

    def __init__(self, db: Database, vault: RecordingVault) -> None:
        self._db = db
        self._storage = vault.storage
        self.vault = vault
        self._tasks = TaskTracker()

    async def start(self) -> None:
        """Checks for leftover files on this machine, now and once a minute."""
        if self._storage.is_shared and not self._tasks:
            self._tasks.start(self._sweep_forever(), name="recording_spool")

    def keep_soon(self, key: str) -> None:
        """Uploads a finished recording in the background. The sweep retries failures."""
        if self._storage.is_shared:
            self._tasks.start(self._keep(key), name="keep_recording")

    async def sweep(self) -> int:
        """Uploads the recordings that are no longer being written and returns their number."""
        kept = 0
        for path in await asyncio.to_thread(self._find_abandoned):
            key = f"{FOLDER}/{path.parent.name}/{path.name}"
            with suppress(SecretUnreadable):  # whose organization is gone
                await self.vault.repair(key)
            kept += await self._keep(key)
        return kept

    async def close(self) -> None:
        """Stops; recordings not yet in the bucket stay on this machine for the next process."""
        await self._tasks.close()

    async def _sweep_forever(self) -> None:
        while True:
            try:
                await self.sweep()
            except OSError as error:
                log.warning("recordings_not_swept", error=str(error))
            await asyncio.sleep(SWEEP_INTERVAL_S)

    async def _keep(self, key: str) -> bool:
        path = self._storage.path_for(key)
        if not path.exists():  # made on another machine, or another process was faster
            return False
        try:
            if await self._has_run(key):
                await self._storage.keep(key, path)
                if await self._has_run(key):
                    return True
            await self._storage.delete(key)
        except (StorageUnavailable, *DATABASE_ERRORS) as error:
            log.warning("recording_not_kept", key=key, error=str(error))
        return False

    async def _has_run(self, key: str) -> bool:
        organization_id, run_id = key.removesuffix(".wav").split("/")[1:]
        async with self._db.transaction() as session:
            found = await repository.find_recording_keys_of_runs(session, int(organization_id), [int(run_id)])
        return bool(found)

    def _find_abandoned(self) -> list[Path]:
        before = time.time() - ABANDONED_AFTER_S
        found = []
        for path in (self._storage.root / FOLDER).glob("*/*.wav"):
            with suppress(FileNotFoundError):  # another process was faster
                if path.stat().st_mtime < before:
                    found.append(path)
        return found
