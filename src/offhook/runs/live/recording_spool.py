"""Moves finished recordings from this machine to the bucket, including those of a process that died."""

import asyncio
import time
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.files.file_store import FileStore, StorageUnavailable
from offhook.kit.tasks import TaskTracker
from offhook.runs.live.wav import repair_wav_header

FOLDER: Final = "recordings"
# A live recording is written every second, so an older file is finished.
ABANDONED_AFTER_S: Final = 300.0
SWEEP_INTERVAL_S: Final = 60.0
log = structlog.get_logger(__name__)


class RecordingSpool:
    """One per process. Does nothing where recordings stay in their local folder."""

    def __init__(self, storage: FileStore) -> None:
        self._storage = storage
        self._tasks = TaskTracker()

    async def start(self) -> None:
        """Checks for leftover files on this machine, now and once a minute."""
        if self._storage.is_shared:
            self._tasks.start(self._sweep_forever(), name="recording_spool")

    def keep_soon(self, key: str) -> None:
        """Uploads a finished recording in the background. The sweep retries failures."""
        if self._storage.is_shared:
            self._tasks.start(self._keep(key), name="keep_recording")

    async def sweep(self) -> int:
        """Uploads the recordings that are no longer being written and returns their number."""
        kept = 0
        for path in await asyncio.to_thread(self._find_abandoned):
            await asyncio.to_thread(repair_wav_header, path)
            kept += await self._keep(f"{FOLDER}/{path.parent.name}/{path.name}")
        return kept

    async def close(self) -> None:
        """Stops; recordings not yet in the bucket stay on this machine for the next process."""
        await self._tasks.close()

    async def _sweep_forever(self) -> None:
        while True:
            await self.sweep()
            await asyncio.sleep(SWEEP_INTERVAL_S)

    async def _keep(self, key: str) -> bool:
        try:
            await self._storage.keep(key)
        except StorageUnavailable as error:
            if self._storage.path_for(key).exists():  # otherwise another process was faster
                log.warning("recording_not_kept", key=key, error=str(error))
            return False
        return True

    def _find_abandoned(self) -> list[Path]:
        before = time.time() - ABANDONED_AFTER_S
        paths = (self._storage.root / FOLDER).glob("*/*.wav")
        return [path for path in paths if path.stat().st_mtime < before]
