"""Encrypts recordings that exist with the newest key of their organization."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final

from offhook.kit.clock import Clock
from offhook.kit.crypto import DataKey
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone
from offhook.kit.files.sealed_file import CHUNK, SealedFile
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.recording_files.recording_spool import ABANDONED_AFTER_S, FOLDER
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records import repository

_BLOCK: Final = 16 * CHUNK


class RecordingSealer:
    """Can be stopped at any moment and begun again: each file is replaced as a whole.

    ``delete_older_keys`` gets an organization and the number of the key with which all of its recordings are encrypted.
    """

    def __init__(
        self,
        db: Database,
        vault: RecordingVault,
        keys: DataKeys,
        clock: Clock,
        delete_older_keys: Callable[[int, int], Awaitable[None]],
    ) -> None:
        self._db = db
        self._vault = vault
        self._keys = keys
        self._clock = clock
        self._delete_older_keys = delete_older_keys

    async def seal_recordings(self, organization_id: int) -> tuple[int, int]:
        """Returns how many recordings were encrypted, and how many were left because they can still be written.

        When none is left, the older keys of the organization are deleted.
        """
        async with self._db.transaction() as session:
            newest = await self._keys.get_newest(session, organization_id)
        sealed = left = 0
        before = self._clock.now() - timedelta(seconds=ABANDONED_AFTER_S)
        async for batch in self._vault.storage.list_keys(f"{FOLDER}/{organization_id}"):
            for key, stored_at in batch:
                found = await self._find_number(key)
                if found == newest.number:
                    continue
                if stored_at > before:
                    left += 1
                    continue
                sealed += await self._seal(key, newest)
        if left == 0:
            await self._delete_older_keys(organization_id, newest.number)
        return sealed, left

    async def _find_number(self, key: str) -> int | None:
        try:
            found = await self._vault.find_file(key)
        except FileGone:
            return None
        return found.key.number if found.key is not None else None

    async def _seal(self, key: str, newest: DataKey) -> bool:
        draft = self._vault.storage.path_for(f"uploads/{secrets.token_hex(8)}.wav")
        try:
            async with self._vault.open_file(key) as source:
                await asyncio.to_thread(_copy_sealed, source, draft, newest)
            await self._vault.storage.keep(key, draft)
        except FileGone:
            return False
        finally:
            draft.unlink(missing_ok=True)
        if await self._has_run(key):
            return True
        await self._vault.storage.delete(key)  # its run was deleted while it was copied
        return False

    async def _has_run(self, key: str) -> bool:
        organization_id, run_id = key.removesuffix(".wav").split("/")[1:]
        async with self._db.transaction() as session:
            return bool(await repository.find_recording_keys_of_runs(session, int(organization_id), [int(run_id)]))


def _copy_sealed(source: BinaryIO, target: Path, key: DataKey) -> None:
    file = SealedFile(target, key, creates=True)
    try:
        at = 0
        while part := source.read(_BLOCK):
            file.write_at(at, part)
            at += len(part)
    finally:
        file.close()
