"""The recordings of one process: samples for calls, read once and kept while in use."""

import asyncio
import wave
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
import soxr
import structlog

from offhook.kit.audio import Samples
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, FileStore, StorageUnavailable
from offhook.kit.tasks import TaskTracker
from offhook.orgs import Caller, hold_access
from offhook.recordings import repository, service
from offhook.recordings.ports import RecordingUsers
from offhook.recordings.schemas import RecordingCreate
from offhook.recordings.tables import WorkflowRecording

MAX_CACHE_BYTES: Final = 32 * 1024 * 1024
# A caller waits for what is to be played: after this, the agent says it in its own voice.
MAX_WAIT_S: Final = 2.5
# Storage key and sample rate.
_Key = tuple[str, int]
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedRecording:
    """A loaded recording; ``samples`` are int16 mono at the requested rate."""

    transcript: str
    samples: Samples


@dataclass(frozen=True, slots=True)
class _Load:
    """A file that is being read for calls, and when they no longer wait for it, on the loop's clock."""

    task: "asyncio.Task[Samples | Exception]"
    deadline: float


class RecordingLibrary:
    """Loads the recordings that definitions name, and deletes them with their files."""

    def __init__(self, db: Database, storage: FileStore) -> None:
        self._db = db
        self._storage = storage
        self._cache: OrderedDict[_Key, Samples] = OrderedDict()
        self._loading: dict[_Key, _Load] = {}
        self._loads = TaskTracker()
        self._bytes = 0

    async def create_recordings(
        self, users: Sequence[RecordingUsers], caller: Caller, wanted: Sequence[RecordingCreate], *, now: datetime
    ) -> list[WorkflowRecording]:
        """Creates recordings of uploaded files; raises what ``service.create_recordings`` raises."""
        keys = [item.storage_key for item in wanted]
        lengths = await service.measure_uploads(self._storage, caller.organization_id, keys, now)
        async with self._db.transaction(caller.organization_id) as session:
            await hold_access(session, caller)
            return await service.create_recordings(session, users, caller, wanted, lengths)

    async def delete_recording(self, caller: Caller, recording_id: str) -> None:
        """Deletes a recording and, after the commit, its file; raises ``RecordingNotFound`` (404)."""
        # Removing the file before the commit would break a row that stays after a rollback.
        async with self._db.transaction(caller.organization_id) as session:
            key = await service.delete_recording(session, caller, recording_id)
        if key is None:
            return
        # No transaction waits for the bucket. A recording that is created of the same upload in this moment loses its
        # file, and agents speak its text.
        try:
            await self._storage.delete(key)
        except StorageUnavailable as error:  # the daily sweep removes it
            log.warning("recording_file_left", key=key, error=error.message)

    async def load_recording(self, organization_id: int, recording_id: str, sample_rate: int) -> LoadedRecording | None:
        """Returns None for an unknown recording; raises FileGone, StorageUnavailable, OSError or
        wave.Error when its file is not readable, or not soon enough for a call."""
        async with self._db.transaction() as session:
            row = await repository.find_by_recording_id(session, organization_id, recording_id)
        if row is None:
            return None
        key = (row.storage_key, sample_rate)
        samples = self._cache.get(key)
        if samples is None:
            samples = await self._wait_for_samples(key)
        else:
            self._cache.move_to_end(key)
        return LoadedRecording(row.transcript, samples)

    async def close(self) -> None:
        await self._loads.close()

    async def _wait_for_samples(self, key: _Key) -> Samples:
        """Returns the samples, which all calls that want them load once; raises StorageUnavailable when that takes too long.
        The load goes on: a later call has them."""
        loop = asyncio.get_running_loop()
        load = self._loading.get(key)
        if load is None:
            task = self._loads.start(self._load_samples(key), name="load_recording")
            load = self._loading[key] = _Load(task, loop.time() + MAX_WAIT_S)
            task.add_done_callback(lambda _: self._loading.pop(key, None))
        done, _ = await asyncio.wait({load.task}, timeout=max(0.0, load.deadline - loop.time()))
        if not done:
            raise StorageUnavailable("File storage takes too long for a call.")
        found = load.task.result()
        if isinstance(found, Exception):
            raise found
        return found

    async def _load_samples(self, key: _Key) -> Samples | Exception:
        """Returns the samples, or why there are none: each call that waits says so."""
        storage_key, sample_rate = key
        try:
            async with self._storage.open_file(storage_key) as path:
                samples = await asyncio.to_thread(_read_samples, path, sample_rate)
        except (FileGone, StorageUnavailable, OSError, EOFError, wave.Error) as error:
            return error
        self._cache[key] = samples
        self._bytes += samples.nbytes
        while self._bytes > MAX_CACHE_BYTES and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._bytes -= oldest.nbytes
        return samples


def _read_samples(path: Path, sample_rate: int) -> Samples:
    with wave.open(str(path), "rb") as file:
        samples: Samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        rate = file.getframerate()
    if rate != sample_rate:
        samples = soxr.resample(samples, rate, sample_rate)
    return samples
