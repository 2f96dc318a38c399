"""The recordings of one process: samples for calls, read once and kept while in use."""

import asyncio
import wave
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import soxr

from offhook.kit.audio import Samples
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.orgs import Caller
from offhook.recordings import repository, service

MAX_CACHE_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoadedRecording:
    """A loaded recording; ``samples`` are int16 mono at the requested rate."""

    transcript: str
    samples: Samples


class RecordingLibrary:
    """Loads the recordings that definitions name, and deletes them with their files."""

    def __init__(self, db: Database, storage: FileStore) -> None:
        self._db = db
        self._storage = storage
        self._cache: OrderedDict[tuple[str, int], Samples] = OrderedDict()
        self._bytes = 0

    async def delete_recording(self, caller: Caller, recording_id: str) -> None:
        """Deletes a recording and, after the commit, its file; raises ``RecordingNotFound`` (404)."""
        # Removing the file before the commit would break a row that stays after a rollback.
        async with self._db.transaction() as session:
            key = await service.delete_recording(session, caller, recording_id)
        if key is not None:
            async with self._db.transaction() as session:
                await repository.lock_keys(session, caller.organization_id, [key])
                if not await repository.used_keys(session, caller.organization_id, [key]):
                    await self._storage.delete(key)

    async def load_recording(self, organization_id: int, recording_id: str, sample_rate: int) -> LoadedRecording | None:
        """Returns None for an unknown recording; raises FileGone, OSError or wave.Error when its file is not readable."""
        async with self._db.transaction() as session:
            row = await repository.find_by_recording_id(session, organization_id, recording_id)
        if row is None:
            return None
        key = (row.storage_key, sample_rate)
        samples = self._cache.get(key)
        if samples is None:
            async with self._storage.open_file(row.storage_key) as path:
                samples = await asyncio.to_thread(_read_samples, path, sample_rate)
            if key not in self._cache:
                self._bytes += samples.nbytes
            self._cache[key] = samples
            while self._bytes > MAX_CACHE_BYTES and len(self._cache) > 1:
                _, oldest = self._cache.popitem(last=False)
                self._bytes -= oldest.nbytes
        self._cache.move_to_end(key)
        return LoadedRecording(row.transcript, samples)


def _read_samples(path: Path, sample_rate: int) -> Samples:
    with wave.open(str(path), "rb") as file:
        samples: Samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        rate = file.getframerate()
    if rate != sample_rate:
        samples = soxr.resample(samples, rate, sample_rate)
    return samples
