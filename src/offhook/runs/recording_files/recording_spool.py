"""Moves finished recordings from this machine to the bucket, including those of a process that died.

A call that another machine went on with has a part on each. The machine that ended it stores the recording; the others
add theirs to it.
"""

import asyncio
import random
import time
from collections import defaultdict
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog
from prometheus_client import Gauge

from offhook.kit.crypto import SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.files.file_store import FileGone, StorageUnavailable
from offhook.kit.tasks import TaskTracker
from offhook.orgs.privacy_settings import redaction
from offhook.runs.recording_files.recording_parts import PartsDiffer
from offhook.runs.recording_files.vault import RecordingVault, organization_of
from offhook.runs.recording_files.waiting_report import WaitingReport
from offhook.runs.records import repository

FOLDER: Final = "recordings"
# Three times the longest call: a call without audio writes nothing, and its file must not be taken from it.
ABANDONED_AFTER_S: Final = 3600.0
# The recording of a call that ended so long ago is no longer being written or moved.
ENDED_FOR: Final = timedelta(seconds=10)
SWEEP_INTERVAL_S: Final = 20.0
# How long a process that stops goes on uploading: its disk may go with it.
CLOSE_TIMEOUT_S: Final = 15.0
# How long it tries to report what is left when it stops.
REPORT_TIMEOUT_S: Final = 2.0
# A whole machine's calls can end at once, and each upload keeps several parts in memory.
MAX_UPLOADS: Final = 4
# A bucket that failed so often is asked again at the next sweep, not for each of a thousand recordings.
MAX_FAILURES: Final = 3
WAITING = Gauge("offhook_recordings_waiting", "Recordings finished here that are not in the bucket yet.")
log = structlog.get_logger(__name__)


class RecordingSpool:
    """One per process. Does nothing where recordings stay in their local folder.

    A run may be deleted while its recording waits here; then the file is deleted, too.
    """

    def __init__(self, db: Database, vault: RecordingVault, *, close_timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        self._db = db
        self._storage = vault.storage
        self.vault = vault
        self._close_timeout_s = close_timeout_s
        self._sweeping = TaskTracker()
        self._uploads = TaskTracker()
        self._places = asyncio.Semaphore(MAX_UPLOADS)
        # Finished here, and not taken by the bucket at the last attempt; the one that was tried last is the last.
        self._refused: dict[str, None] = {}
        # Finished here, but the upload was cut off when the process ended.
        self._cut_off: set[str] = set()
        self._failures = 0
        self.report = WaitingReport(db, self._storage.root / FOLDER)

    async def start(self) -> None:
        """Checks for leftover files on this machine, now and three times a minute."""
        if self._storage.is_shared and not self._sweeping:
            self._sweeping.start(self._sweep_forever(), name="recording_spool")

    def keep_soon(self, key: str) -> None:
        """Uploads a finished recording in the background. The sweep retries failures."""
        if self._storage.is_shared:
            self._uploads.start(self._keep_in_turn(key), name="keep_recording")
            WAITING.set_function(self._count_waiting)

    async def sweep(self) -> int:
        """Uploads the recordings that are no longer being written and returns their number."""
        kept = self._failures = 0
        for key in list(self._refused):
            kept += await self._keep(key, is_last=True)
            if self._is_away():
                return kept
        abandoned, fresh = await asyncio.to_thread(self._find_files)
        random.shuffle(abandoned)  # a few that the bucket never takes must not stand before the others
        for key in abandoned:
            kept += await self._keep(key)
            if self._is_away():
                return kept
        for key in await self._find_ended(fresh):
            kept += await self._add_part(key)
            if self._is_away():
                break
        return kept

    async def tell_waiting(self) -> None:
        """Reports to the database what waits here now."""
        abandoned, fresh = await asyncio.to_thread(self._find_files)
        keys = {*abandoned, *self._refused, *self._cut_off, *await self._find_ended(fresh)}
        await self.report.write_waiting([self._storage.path_for(key) for key in keys])

    async def close(self) -> None:
        """Stops when what was finished here is in the bucket, or when the time for that is over; the rest stays on this
        machine for the next process."""
        await self._sweeping.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._close_timeout_s):
                await self._uploads.finish()
                for key in list(self._refused):
                    await self._keep(key, is_last=True)
        await self._uploads.close()
        left = len(self._refused) + len(self._cut_off)
        # What was uploaded just now must not be shown as waiting on a machine that may never come back.
        if self._storage.is_shared and (left or self.report.has_row):
            with suppress(OSError, ValueError, *DATABASE_ERRORS):
                async with asyncio.timeout(REPORT_TIMEOUT_S):
                    await self.tell_waiting()
        if left:
            log.warning("recordings_left_here", count=left, folder=str(self._storage.root / FOLDER))

    async def _sweep_forever(self) -> None:
        while True:
            try:
                await self.sweep()
                await self.tell_waiting()
            except (OSError, ValueError, *DATABASE_ERRORS) as error:  # a ValueError of what is told: uploads go on
                log.warning("recordings_not_swept", error=str(error))
            await asyncio.sleep(SWEEP_INTERVAL_S)

    async def _keep_in_turn(self, key: str) -> None:
        try:
            async with self._places:
                await self._keep(key, is_last=True)
        except asyncio.CancelledError:
            self._cut_off.add(key)
            raise

    def _count_waiting(self) -> int:
        return len(self._uploads) + len(self._refused)

    def _is_away(self) -> bool:
        if self._failures < MAX_FAILURES:
            return False
        log.error("bucket_not_taking", waiting=self._count_waiting(), retried_in_s=SWEEP_INTERVAL_S)
        return True

    async def _keep(self, key: str, *, is_last: bool = False) -> bool:
        """Uploads one recording; returns False when it stays here or is nowhere. ``is_last``: of the machine that ended the
        call, and whole."""
        path = self._storage.path_for(key)
        try:
            if not path.exists():  # made on another machine, or another process was faster
                self._refused.pop(key, None)
                return False
            if not is_last:
                await self._repair(key)
            if await self._storage.has_stored(key) and (await self._may_add(key) or not is_last):
                if not await self._add_part(key):
                    raise StorageUnavailable
                is_kept = True
            else:
                is_kept = await self._store(key, path)
            self._refused.pop(key, None)
        except (StorageUnavailable, ValueError, *DATABASE_ERRORS) as error:
            self._note_failure(key, error)
            if is_last:  # others are abandoned at the next sweep as well
                self._refused.pop(key, None)
                self._refused[key] = None
            return False
        return is_kept

    async def _store(self, key: str, path: Path) -> bool:
        """Stores a recording; returns False when its run is gone, and it with it."""
        if await self._has_run(key):
            await self._storage.keep(key, path)
            if await self._has_run(key):
                return True
        await self._storage.delete(key)
        return False

    async def _add_part(self, key: str) -> bool:
        """Adds what was left here to what the bucket has; returns False when it has nothing, or does not respond."""
        path = self._storage.path_for(key)
        try:
            if not await self._storage.has_stored(key) or not path.exists():
                return False
            if await self._may_add(key):
                await self._repair(key)
                await self.vault.add_part(key)
                log.info("recording_part_added", key=key)
        except (PartsDiffer, SecretUnreadable) as error:
            log.error("recording_part_lost", key=key, error=type(error).__name__)
        except (FileGone, StorageUnavailable, OSError, *DATABASE_ERRORS) as error:
            self._note_failure(key, error)
            return False
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return True

    def _note_failure(self, key: str, error: Exception) -> None:
        log.warning("recording_not_kept", key=key, error=str(error))
        self._failures += 1
        self.report.note_failure(error)

    async def _repair(self, key: str) -> None:
        with suppress(SecretUnreadable):  # whose organization is gone
            await self.vault.repair(key)

    async def _may_add(self, key: str) -> bool:
        """Returns False where parts of recordings are silenced: only the machine that ended the call knew which."""
        async with self._db.transaction() as session:
            rules = await redaction.get_redaction_rules(session, organization_of(key))
        return not rules.kinds and await self._has_run(key)

    async def _find_ended(self, keys: list[str]) -> list[str]:
        """Returns those whose call is over."""
        runs = defaultdict[int, dict[int, str]](dict)
        for key in keys:
            runs[organization_of(key)][int(Path(key).stem)] = key
        ended: list[str] = []
        for organization_id, found in runs.items():
            async with self._db.transaction() as session:
                ids = await repository.find_ended_runs(session, organization_id, list(found), ended_for=ENDED_FOR)
            ended += [found[run_id] for run_id in ids]
        return ended

    async def _has_run(self, key: str) -> bool:
        organization_id, run_id = key.removesuffix(".wav").split("/")[1:]
        async with self._db.transaction() as session:
            found = await repository.find_recording_keys_of_runs(session, int(organization_id), [int(run_id)])
        return bool(found)

    def _find_files(self) -> tuple[list[str], list[str]]:
        """Returns the keys of the recordings on this machine: those without a change for long, and the others."""
        before = time.time() - ABANDONED_AFTER_S
        abandoned: list[str] = []
        fresh: list[str] = []
        for path in (self._storage.root / FOLDER).glob("*/*.wav"):
            if not (path.stem.isdecimal() and path.parent.name.isdecimal()):
                continue  # not ours
            with suppress(FileNotFoundError):  # another process was faster
                group = abandoned if path.stat().st_mtime < before else fresh
                group.append(f"{FOLDER}/{path.parent.name}/{path.name}")
        return abandoned, fresh
