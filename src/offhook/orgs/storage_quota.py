"""How many bytes of files an organization can store, and the free disk space below which all uploads are refused."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from offhook.errors import Conflict
from offhook.kit.files.disk_space import DiskAlmostFull, has_free_space
from offhook.kit.files.file_store import FileStore
from offhook.settings import Settings

MEGABYTE: Final = 1_000_000


class StorageQuotaExceeded(Conflict):
    """Your organization's file storage is full. Delete documents, recordings or contact files first."""

    code = "storage_quota_exceeded"


class StorageQuota:
    """Counts what is stored, not what was announced: the sizes of the files in each organization's folders.

    Domains add the folder of their uploads to ``folders`` under the name of what is in it; the folder of an organization
    below it is named by its id. What this process is storing counts as stored from the beginning, so that uploads of the
    same moment do not share the same room; those of other processes count once they are stored.
    """

    def __init__(self, storage: FileStore, settings: Settings) -> None:
        self.folders: dict[str, str] = {}
        self.limit_bytes: int | None = settings.org_storage_limit_mb * MEGABYTE or None
        self._storage = storage
        self._min_free_bytes = settings.min_free_disk_mb * MEGABYTE
        self._held: Counter[int] = Counter()

    async def measure_folders(self, organization_id: int) -> Mapping[str, int]:
        """Returns the bytes that the organization stores, by what they are."""
        sizes = await asyncio.gather(
            *(self._storage.measure_folder(f"{folder}/{organization_id}") for folder in self.folders.values())
        )
        return dict(zip(self.folders, sizes, strict=True))

    async def require_room(self, organization_id: int, size_bytes: int) -> None:
        """Raises DiskAlmostFull (503), and StorageQuotaExceeded (409) when a file of this size does not fit."""
        async with self.hold_room(organization_id, size_bytes):
            return

    @asynccontextmanager
    async def hold_room(self, organization_id: int, size_bytes: int) -> AsyncIterator[None]:
        """Keeps room for a file until the block, which stores it, ends. Raises as :meth:`require_room`."""
        self._held[organization_id] += size_bytes
        try:
            await self._check_room(organization_id, size_bytes, others=self._held[organization_id] - size_bytes)
            yield
        finally:
            self._held[organization_id] -= size_bytes
            if not self._held[organization_id]:
                del self._held[organization_id]

    async def _check_room(self, organization_id: int, size_bytes: int, others: int) -> None:
        # Drafts are on this disk also where files are kept in a bucket.
        if not await asyncio.to_thread(has_free_space, self._storage.root, self._min_free_bytes + size_bytes):
            raise DiskAlmostFull
        if self.limit_bytes is None:
            return
        # ``others`` is from before: a file that is stored while this measures counts twice, never not at all.
        used = others + sum((await self.measure_folders(organization_id)).values())
        if used + size_bytes > self.limit_bytes:
            limit, free = self.limit_bytes / MEGABYTE, max(0, self.limit_bytes - used) / MEGABYTE
            raise StorageQuotaExceeded(
                f"Your organization can store {limit:,.0f} MB of files and has {free:,.1f} MB left. "
                "Delete documents, recordings or contact files first."
            )
