"""Contact files: uploaded to a signed URL, stored in their organization's folder, downloaded by signed links."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from fastapi import Response

from offhook.campaigns import repository
from offhook.campaigns.errors import ContactFileNotFound, ContactFileTooLarge, NotCsv
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.files.byte_ranges import RangeResponse
from offhook.kit.files.file_store import FileGone, FileStore
from offhook.kit.json_values import JsonObject
from offhook.orgs import StorageQuota

MAX_FILE_BYTES: Final = 50 * 1024 * 1024
LINK_TTL_S: Final = 900
# A file without a campaign is removed after this.
UNUSED_FILE_TTL_S: Final = 24 * 3600
_UPLOAD: Final = "sized-campaign-upload"
_DOWNLOAD: Final = "campaign-download"
FOLDER: Final = "campaigns"
_MAX_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class ContactUpload:
    """The key of an upload; ``token`` is the permission to send it."""

    key: str
    token: str


class ContactFiles:
    """Uploads, storage and downloads of contact files. One per process."""

    def __init__(
        self, *, db: Database, storage: FileStore, keyring: Keyring, clock: Clock, quota: StorageQuota
    ) -> None:
        self._db = db
        self._storage = storage
        self._keyring = keyring
        self._clock = clock
        self._quota = quota

    async def create_upload(self, organization_id: int, file_name: str, file_size: int) -> ContactUpload:
        """Returns the key and token of an upload of at most ``file_size`` bytes.

        Raises ContactFileTooLarge (413), NotCsv (415), StorageQuotaExceeded (409), DiskAlmostFull (503).
        """
        if file_size > MAX_FILE_BYTES:
            raise ContactFileTooLarge
        if not file_name.lower().endswith(".csv"):
            raise NotCsv
        await self._quota.require_room(organization_id, file_size)
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", file_name[:-4])[:_MAX_NAME].strip(".") or "contacts"
        key = f"{FOLDER}/{organization_id}/{secrets.token_hex(16)}_{stem}.csv"
        return ContactUpload(key, self._sign_link(_UPLOAD, f"{file_size}:{key}"))

    async def store_upload(self, token: str, body: AsyncIterator[bytes]) -> tuple[str, int]:
        """Stores the body as it arrives and returns the key and the size, at most the announced one. A second upload
        replaces the first.

        Raises LinkRefused (401), ContactFileTooLarge (413), StorageQuotaExceeded (409), DiskAlmostFull (503).
        """
        announced, _, key = self._verify_link(token, _UPLOAD).partition(":")
        max_size = int(announced)
        async with self._quota.hold_room(_owner_of(key), max_size):
            return key, await self._store_body(key, body, max_size)

    @asynccontextmanager
    async def open_file(self, organization_id: int, key: str) -> AsyncIterator[Path]:
        """Yields the file on this machine for the duration of the block. Raises ContactFileNotFound (404), also for
        another organization's key and for one without an upload.
        """
        _check_owner(organization_id, key)
        async with AsyncExitStack() as stack:
            try:
                path = await stack.enter_async_context(self._storage.open_file(key))
            except FileGone:
                raise ContactFileNotFound from None
            yield path

    def scratch_path(self) -> Path:
        """Returns a path for the lines of one file; the caller removes it."""
        return self._storage.path_for(f"uploads/{secrets.token_hex(8)}.lines")

    async def download_token(self, organization_id: int, key: str) -> str:
        """Returns the right to read a file for 15 minutes. Raises ContactFileNotFound (404)."""
        _check_owner(organization_id, key)
        try:
            await self._storage.find_file(key)
        except FileGone:
            raise ContactFileNotFound from None
        return self._sign_link(_DOWNLOAD, key)

    def download_response(self, token: str, range_header: str | None) -> Response:
        """Returns the file behind a signed link. Raises LinkRefused (401), and ContactFileNotFound (404) when it is sent."""
        key = self._verify_link(token, _DOWNLOAD)
        name = original_file_name(key)
        return RangeResponse(self._storage, key, range_header, "text/csv", name, missing=ContactFileNotFound)

    def name_download(self, token: str) -> tuple[int, str]:
        """Returns whose file a signed link opens, and the file's name. Raises LinkRefused (401)."""
        key = self._verify_link(token, _DOWNLOAD)
        return _owner_of(key), original_file_name(key)

    async def remove_unused_files(self) -> int:
        """Removes files that no campaign uses, a day after their upload; returns how many."""
        before = self._clock.now() - timedelta(seconds=UNUSED_FILE_TTL_S)
        await asyncio.to_thread(self._remove_old_scratch, before.timestamp())
        names: dict[int, list[str]] = {}
        async for batch in self._storage.list_keys(FOLDER):
            for key, kept_at in batch:
                owner = key.split("/")[1]
                if owner.isdigit() and key.endswith(".csv") and kept_at < before:
                    names.setdefault(int(owner), []).append(key)
        removed = 0
        for organization_id, keys in names.items():
            async with self._db.transaction() as session:
                used = await repository.used_file_keys(session, organization_id, keys)
            for key in set(keys) - used:
                await self._storage.delete(key)
                removed += 1
        return removed

    async def handle_sweep(self, _: JsonObject) -> None:
        """Runs the job ``campaign.sweep_files``."""
        await self.remove_unused_files()

    async def _store_body(self, key: str, body: AsyncIterator[bytes], max_size: int) -> int:
        draft = self._storage.path_for(f"uploads/{secrets.token_hex(8)}.csv")
        size = 0
        try:
            with draft.open("wb") as file:
                async for chunk in body:
                    size += len(chunk)
                    if size > max_size:
                        raise ContactFileTooLarge(f"The file is larger than the {max_size} bytes that were announced.")
                    await asyncio.to_thread(file.write, chunk)
            await self._storage.keep(key, draft)
        finally:
            draft.unlink(missing_ok=True)
        return size

    def _remove_old_scratch(self, before: float) -> None:
        for path in (self._storage.root / "uploads").glob("*.lines"):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)

    def _sign_link(self, purpose: str, key: str) -> str:
        return self._keyring.sign_link(purpose, key, int(self._clock.now().timestamp()) + LINK_TTL_S)

    def _verify_link(self, token: str, purpose: str) -> str:
        return self._keyring.verify_link(purpose, token, self._clock.now().timestamp())


def _check_owner(organization_id: int, key: str) -> None:
    if re.fullmatch(rf"{FOLDER}/{organization_id}/[0-9a-f]{{32}}_[A-Za-z0-9._-]{{1,100}}\.csv", key) is None:
        raise ContactFileNotFound


def _owner_of(key: str) -> int:
    return int(key.split("/")[1])


def original_file_name(key: str) -> str:
    """Returns the name of the uploaded file, as far as it was kept."""
    return key.rpartition("/")[2].partition("_")[2]
