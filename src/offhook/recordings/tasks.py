"""The job that removes files that no recording stands on: uploads that were never named, and what a crash left."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.jobs.registry import Handler
from offhook.recordings import repository, service
from offhook.root import Root

SWEEP_EVERY_S: Final = 86_400.0
# Who named an upload in its last minute has long committed an hour later.
KEEP: Final = service.UPLOAD_KEPT + timedelta(hours=1)
_AT_ONCE: Final = 1000
log = structlog.get_logger(__name__)


def sweep_handler(root: Root) -> Handler:
    async def sweep(_: dict[str, Any]) -> None:
        files = root.storage.root
        before = (root.clock.now() - KEEP).timestamp()
        removed = await asyncio.to_thread(_remove, _old(files / service.DRAFTS, before))
        for folder in await asyncio.to_thread(_folders, files / service.UPLOADS):
            removed += await _sweep_organization(root, folder, before)
        if removed:
            log.info("unclaimed_uploads_removed", files=removed)

    return sweep


async def _sweep_organization(root: Root, folder: Path, before: float) -> int:
    organization_id, removed = int(folder.name), 0
    old = await asyncio.to_thread(_old, folder, before)
    for start in range(0, len(old), _AT_ONCE):
        by_key = {service.storage_key(organization_id, path.stem): path for path in old[start : start + _AT_ONCE]}
        async with root.db.transaction() as session:
            used = await repository.used_keys(session, organization_id, by_key.keys())
        unclaimed = [path for key, path in by_key.items() if key not in used]
        removed += await asyncio.to_thread(_remove, unclaimed)
    return removed


def _folders(parent: Path) -> list[Path]:
    """Of the organizations."""
    return [entry for entry in _entries(parent) if entry.name.isdecimal() and entry.is_dir()]


def _old(folder: Path, before: float) -> list[Path]:
    """The files of a folder that were last written before then (seconds since the epoch)."""
    return [entry for entry in _entries(folder) if entry.is_file() and entry.stat().st_mtime < before]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _remove(paths: list[Path]) -> int:
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)
