"""Removes files without a recording: unclaimed uploads (in a job) and files that a crash left on a machine."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog

from offhook.jobs.registry import JobHandler
from offhook.kit.clock import Clock
from offhook.kit.files.file_store import FileStore
from offhook.kit.json_values import JsonObject
from offhook.kit.tasks import TaskTracker
from offhook.recordings import repository, service
from offhook.root import Root

SWEEP_INTERVAL_S: Final = 86_400.0
# An hour later, the transaction that claimed an upload in its last minute has long committed.
UPLOAD_RETENTION: Final = service.UPLOAD_LIFETIME + timedelta(hours=1)
log = structlog.get_logger(__name__)


def sweep_handler(root: Root) -> JobHandler:
    async def remove_orphans(_: JsonObject) -> None:
        before = root.clock.now() - UPLOAD_RETENTION
        removed = 0
        async for batch in root.storage.list_keys(service.UPLOADS_FOLDER):
            removed += await _remove_unclaimed(root, [key for key, kept_at in batch if kept_at < before])
        if removed:
            log.info("unclaimed_uploads_removed", files=removed)

    return remove_orphans


class DraftSweep:
    """Removes what a crash left in the drafts folder once a day: partial uploads, archives, contact files and copies of
    recordings. One per process, because each machine has such a folder."""

    def __init__(self, storage: FileStore, clock: Clock) -> None:
        self._folder = storage.root / service.DRAFTS_FOLDER
        self._clock = clock
        self._tasks = TaskTracker()

    async def start(self) -> None:
        if not self._tasks:
            self._tasks.start(self._sweep_forever(), name="sweep_drafts")

    async def close(self) -> None:
        await self._tasks.close()

    async def _sweep_forever(self) -> None:
        while True:
            before = self._clock.now() - UPLOAD_RETENTION
            try:
                if removed := await asyncio.to_thread(_remove_old_files, self._folder, before.timestamp()):
                    log.info("drafts_removed", files=removed)
            except OSError as error:
                log.warning("drafts_not_removed", error=str(error))
            await asyncio.sleep(SWEEP_INTERVAL_S)


async def _remove_unclaimed(root: Root, keys: list[str]) -> int:
    """Removes the files without a recording and returns their number."""
    by_organization: dict[int, list[str]] = {}
    for key in keys:
        owner = key.split("/")[1]
        if owner.isdecimal() and service.is_key_of(int(owner), key):
            by_organization.setdefault(int(owner), []).append(key)
    removed = 0
    for organization_id, owned in by_organization.items():
        async with root.db.transaction() as session:
            used = await repository.used_keys(session, organization_id, owned)
        unclaimed = [key for key in owned if key not in used]
        await asyncio.gather(*(root.storage.delete(key) for key in unclaimed))
        removed += len(unclaimed)
    return removed


def _remove_old_files(folder: Path, before: float) -> int:
    """Removes the files that were last written before then (seconds since the epoch) and returns their number."""
    entries = list(folder.iterdir()) if folder.is_dir() else []
    old = [entry for entry in entries if entry.is_file() and entry.stat().st_mtime < before]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)
