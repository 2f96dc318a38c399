"""The job that removes files that no recording stands on: uploads that were never named, and what a crash left."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.jobs.registry import JobHandler
from offhook.recordings import repository, service
from offhook.root import Root

SWEEP_INTERVAL_S: Final = 86_400.0
# Who named an upload in its last minute has long committed an hour later.
UPLOAD_RETENTION: Final = service.UPLOAD_LIFETIME + timedelta(hours=1)
_BATCH: Final = 1000
log = structlog.get_logger(__name__)


def sweep_handler(root: Root) -> JobHandler:
    async def remove_orphans(_: dict[str, Any]) -> None:
        files = root.storage.root
        before = (root.clock.now() - UPLOAD_RETENTION).timestamp()
        removed = await asyncio.to_thread(_remove_files, _files_older_than(files / service.DRAFTS_FOLDER, before))
        for folder in await asyncio.to_thread(_organization_folders, files / service.UPLOADS_FOLDER):
            removed += await _sweep_organization(root, folder, before)
        if removed:
            log.info("unclaimed_uploads_removed", files=removed)

    return remove_orphans


async def _sweep_organization(root: Root, folder: Path, before: float) -> int:
    organization_id, removed = int(folder.name), 0
    old = await asyncio.to_thread(_files_older_than, folder, before)
    for start in range(0, len(old), _BATCH):
        by_key = {service.storage_key(organization_id, path.stem): path for path in old[start : start + _BATCH]}
        async with root.db.transaction() as session:
            used = await repository.used_keys(session, organization_id, by_key.keys())
        unclaimed = [path for key, path in by_key.items() if key not in used]
        removed += await asyncio.to_thread(_remove_files, unclaimed)
    return removed


def _organization_folders(parent: Path) -> list[Path]:
    """Of the organizations."""
    return [entry for entry in _list_folder(parent) if entry.name.isdecimal() and entry.is_dir()]


def _files_older_than(folder: Path, before: float) -> list[Path]:
    """The files of a folder that were last written before then (seconds since the epoch)."""
    return [entry for entry in _list_folder(folder) if entry.is_file() and entry.stat().st_mtime < before]


def _list_folder(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _remove_files(paths: list[Path]) -> int:
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)
