"""Contact files: uploaded to a signed address, kept under their organization's folder, handed out by signed links."""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from offhook.campaigns import repository
from offhook.campaigns.errors import FileTooLarge, NotCsv, UploadNotFound
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring, LinkRefused
from offhook.kit.database.database import Database
from offhook.kit.files.storage import Storage

MAX_FILE_BYTES: Final = 50 * 1024 * 1024
VALID_S: Final = 900
# A file that no campaign names for so long was uploaded for nothing.
KEPT_UNUSED_S: Final = 24 * 3600
_UPLOAD: Final = "campaign-upload"
_DOWNLOAD: Final = "campaign-download"
_FOLDER: Final = "campaigns"
_MAX_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Place:
    """Where an upload goes; ``token`` is the right to send it."""

    key: str
    token: str


class ContactFiles:
    """One per process."""

    def __init__(self, *, db: Database, storage: Storage, keyring: Keyring, clock: Clock) -> None:
        self._db = db
        self._storage = storage
        self._keyring = keyring
        self._clock = clock

    def place(self, organization_id: int, file_name: str, file_size: int) -> Place:
        """FileTooLarge (413), NotCsv (415)."""
        if file_size > MAX_FILE_BYTES:
            raise FileTooLarge
        if not file_name.lower().endswith(".csv"):
            raise NotCsv
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", file_name[:-4])[:_MAX_NAME].strip(".") or "contacts"
        key = f"{_FOLDER}/{organization_id}/{secrets.token_hex(16)}_{stem}.csv"
        return Place(key, self._signed(_UPLOAD, key))

    async def receive(self, token: str, body: AsyncIterator[bytes]) -> tuple[str, int]:
        """Store what is sent, as it comes; the key and the bytes. Sent again, the last one counts.

        LinkRefused (401), FileTooLarge (413).
        """
        key = self._opened(token, _UPLOAD)
        draft = self._storage.path(f"uploads/{secrets.token_hex(8)}.csv")
        size = 0
        try:
            with draft.open("wb") as file:
                async for chunk in body:
                    size += len(chunk)
                    if size > MAX_FILE_BYTES:
                        raise FileTooLarge
                    await asyncio.to_thread(file.write, chunk)
            draft.replace(self._storage.path(key))
        finally:
            draft.unlink(missing_ok=True)
        return key, size

    def path(self, organization_id: int, key: str) -> Path:
        """UploadNotFound (404), also for a key of another organization and for one that was never sent."""
        if re.fullmatch(rf"{_FOLDER}/{organization_id}/[0-9a-f]{{32}}_[A-Za-z0-9._-]{{1,100}}\.csv", key) is None:
            raise UploadNotFound
        path = self._storage.path(key)
        if not path.is_file():
            raise UploadNotFound
        return path

    def scratch(self) -> Path:
        """A path of its own for the lines of one file; whoever asks for it removes it."""
        return self._storage.path(f"uploads/{secrets.token_hex(8)}.lines")

    def download_token(self, organization_id: int, key: str) -> str:
        """The right to read a file for a quarter of an hour. UploadNotFound (404)."""
        self.path(organization_id, key)
        return self._signed(_DOWNLOAD, key)

    def downloaded(self, token: str) -> Path:
        """LinkRefused (401), UploadNotFound (404)."""
        key = self._opened(token, _DOWNLOAD)
        return self.path(int(key.split("/")[1]), key)

    async def sweep(self) -> int:
        """Remove files that no campaign names any more, a day after they came; how many."""
        names = await asyncio.to_thread(self._old_ones, time.time() - KEPT_UNUSED_S)
        removed = 0
        for organization_id, keys in names.items():
            async with self._db.transaction() as session:
                used = await repository.file_keys(session, organization_id, keys)
            for key in set(keys) - used:
                self._storage.path(key).unlink(missing_ok=True)
                removed += 1
        return removed

    async def handle_sweep(self, _: dict[str, Any]) -> None:
        """The job ``campaign.sweep_files``."""
        await self.sweep()

    def _old_ones(self, before: float) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for path in (self._storage.root / _FOLDER).glob("*/*.csv"):
            if path.parent.name.isdigit() and path.stat().st_mtime < before:
                key = f"{_FOLDER}/{path.parent.name}/{path.name}"
                found.setdefault(int(path.parent.name), []).append(key)
        for path in (self._storage.root / "uploads").glob("*.lines"):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
        return found

    def _signed(self, purpose: str, key: str) -> str:
        return self._keyring.sign_link(f"{purpose}:{key}", int(self._clock.now().timestamp()) + VALID_S)

    def _opened(self, token: str, wanted: str) -> str:
        purpose, _, key = self._keyring.verify_link(token, self._clock.now().timestamp()).partition(":")
        if purpose != wanted:
            raise LinkRefused
        return key


def name_of(key: str) -> str:
    """The name that the file had, as far as it was kept."""
    return key.rpartition("/")[2].partition("_")[2]
