"""The recordings of failed plays: in the file storage, deleted with their play and by the rules of retention.

They are not encrypted: both voices are synthetic, and what they say is in the results.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import structlog

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore, StorageUnavailable
from offhook.kit.json_values import JsonObject
from offhook.scenarios.plays import recording_queries

FOLDER: Final = "scenario-recordings"
# Of this machine.
DRAFTS: Final = "scenario-drafts"
SWEEP_JOB: Final = "scenarios.sweep_recordings"
SWEEP_INTERVAL_S: Final = 3600.0
# The longest play takes less.
MAX_PLAY: Final = timedelta(hours=3)
# A file is there before the row of its result.
MIN_AGE: Final = timedelta(hours=1)
log = structlog.get_logger(__name__)


class PlayRecordings:
    """The recordings of an installation's plays."""

    def __init__(self, db: Database, storage: FileStore, clock: Clock) -> None:
        self._db = db
        self.storage = storage
        self._clock = clock

    @contextmanager
    def open_folder(self) -> Iterator[Path]:
        """Provides a folder for recordings that are being written, on the disk of the storage. Raises OSError."""
        drafts = self.storage.path_for(f"{DRAFTS}/play").parent
        with TemporaryDirectory(dir=drafts, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    async def keep_recording(self, organization_id: int, play_id: int, file: Path) -> str | None:
        """Moves a recording into the storage and returns its key; None where there is none, and without storage."""
        key = f"{FOLDER}/{organization_id}/{play_id}/{file.name}"
        try:
            await self.storage.keep(key, file)
        except FileNotFoundError:
            return None
        except (OSError, StorageUnavailable) as error:
            log.warning("play_recording_lost", play_id=play_id, error=str(error))
            return None
        return key

    async def delete_older(self, organization_id: int, workflow_id: int | None, before: datetime) -> int:
        """Deletes the recordings of an organization's plays from before this time, or of one agent's, and returns how
        many there were."""
        async with self._db.transaction() as session:
            keys = await recording_queries.list_keys_before(session, organization_id, workflow_id, before)
        await self._delete_files(keys)
        async with self._db.transaction() as session:
            await recording_queries.forget_keys(session, organization_id, keys)
        return len(keys)

    async def sweep(self, _: JsonObject) -> None:
        """Runs the job ``scenarios.sweep_recordings``: deletes the recordings of plays that are gone, and what a process
        left that died while it played."""
        before = self._clock.now() - MIN_AGE
        await asyncio.to_thread(_remove_old_folders, self.storage.root / DRAFTS, (before - MAX_PLAY).timestamp())
        async for batch in self.storage.list_keys(FOLDER):
            old = [key for key, stored_at in batch if stored_at < before]
            for organization_id, keys in groupby(sorted(old), _organization_of):
                await self._delete_gone(organization_id, list(keys))

    async def _delete_gone(self, organization_id: int, keys: list[str]) -> None:
        async with self._db.transaction() as session:
            plays = {_play_of(key) for key in keys}
            known = await recording_queries.find_existing_plays(session, organization_id, plays)
        await self._delete_files([key for key in keys if _play_of(key) not in known])

    async def _delete_files(self, keys: list[str]) -> None:
        await asyncio.gather(*(self.storage.delete(key) for key in keys))


def _organization_of(key: str) -> int:
    return int(key.split("/")[1])


def _play_of(key: str) -> int:
    return int(key.split("/")[2])


def _remove_old_folders(drafts: Path, before: float) -> None:
    for folder in list(drafts.iterdir()) if drafts.is_dir() else []:
        if folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)
