"""Intake of a file: from the request to a draft on disk, its kind and hash, then to the storage."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from offhook.kit.files.file_store import FileGone, FileStore
from offhook.kit.reading.kinds import ENDINGS, DocumentKind, detect_kind
from offhook.knowledge.errors import DocumentDamaged, DocumentEmpty, DocumentKindUnknown, DocumentTooLarge
from offhook.knowledge.limits import MAX_FILE_BYTES

STORAGE_FOLDER: Final = "knowledge"
_PART_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A readable file, stored under ``storage_key``."""

    sha256: str
    kind: DocumentKind
    size_bytes: int
    storage_key: str


HoldRoom = Callable[[int, int], AbstractAsyncContextManager[None]]


class DocumentIntake:
    """Takes in uploads; one per process. ``drafts`` is a local folder; every worker can reach ``objects``.

    ``hold_room`` keeps room for a file of an organization and a size while it is stored; it raises where it does not fit.
    """

    def __init__(self, objects: FileStore, drafts: Path, hold_room: HoldRoom = lambda *_: nullcontext()) -> None:
        self._objects = objects
        self._drafts = drafts
        self._hold_room = hold_room

    async def store_upload(self, organization_id: int, file: BinaryIO, filename: str) -> StoredFile:
        """Stores an upload. Raises DocumentTooLarge (413), DocumentKindUnknown (415), DocumentEmpty and DocumentDamaged
        (422), and StorageQuotaExceeded (409) or DiskAlmostFull (503).
        """
        async with self.draft_file() as draft:
            size, digest = await asyncio.to_thread(_copy_and_hash, file, draft)
            if size > MAX_FILE_BYTES:
                raise DocumentTooLarge
            if not size:
                raise DocumentEmpty
            kind = await asyncio.to_thread(detect_kind, draft, filename)
            if kind is None:
                raise DocumentDamaged if Path(filename).suffix.lower() in ENDINGS else DocumentKindUnknown
            # content-addressed: equal bytes are stored once, whatever happens to the records
            key = f"{STORAGE_FOLDER}/{organization_id}/{digest}"
            async with self._hold_room(organization_id, size):
                await self._objects.put(key, draft)
        return StoredFile(digest, kind, size, key)

    @asynccontextmanager
    async def fetch_file(self, storage_key: str) -> AsyncIterator[Path]:
        """Yields a local copy of a stored file for the duration of the block. Raises FileGone."""
        async with self.draft_file() as draft:
            await self._objects.fetch(storage_key, draft)
            yield draft

    async def forget_orphans(self, before: datetime, known: Callable[[Sequence[str]], Awaitable[set[str]]]) -> int:
        """Deletes files stored before a moment that belong to no document; returns their number. ``known``: which of
        these keys do.

        Failed upload requests and deleted organizations leave such files.
        """
        removed = await asyncio.to_thread(_forget_drafts, self._drafts, before.timestamp())
        async for batch in self._objects.list_keys(STORAGE_FOLDER):
            old = [key for key, kept_at in batch if kept_at < before]
            for key in set(old) - await known(old):
                removed += await self.forget_file(key, before)
        return removed

    async def forget_file(self, key: str, before: datetime) -> bool:
        """Deletes a file without a document if it was stored before a moment: the same bytes may have been uploaded again,
        and a file is stored before its document exists."""
        with suppress(FileGone):
            if await self._objects.last_modified(key) < before:
                await self._objects.delete(key)
                return True
        return False

    @asynccontextmanager
    async def draft_file(self) -> AsyncIterator[Path]:
        """Yields the path of a file that is deleted after the block."""
        await asyncio.to_thread(self._drafts.mkdir, parents=True, exist_ok=True)
        path = self._drafts / f"{secrets.token_hex(8)}.document"
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


def _forget_drafts(folder: Path, before: float) -> int:
    """Deletes the drafts of killed processes."""
    old = [path for path in folder.glob("*.document") if path.stat().st_mtime < before] if folder.is_dir() else []
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _copy_and_hash(file: BinaryIO, target: Path) -> tuple[int, str]:
    digest, size = sha256(), 0
    with target.open("wb") as out:
        while (part := file.read(_PART_BYTES)) and size <= MAX_FILE_BYTES:
            digest.update(part)
            size += len(part)
            out.write(part)
    return size, digest.hexdigest()
