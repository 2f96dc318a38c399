"""Recordings as they lie in the storage, plain or encrypted with their organization's key, read as if they were plain."""

import asyncio
import io
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from offhook.kit.crypto import DataKey, FileCipher, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, FileStore, KeptFile
from offhook.kit.files.sealed_file import (
    HEADER_BYTES,
    PlainFile,
    RandomAccessFile,
    SealedFile,
    SealedReader,
    decrypt_range,
    derive_file_cipher,
    plain_size,
    read_key_number,
    stored_range,
)
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.recording_files.recording_parts import add_part
from offhook.runs.recording_files.wav import HEADER_BYTES as WAV_HEADER_BYTES
from offhook.runs.recording_files.wav import repair_wav_header

# How long a key is used after its row was deleted.
KNOWN_S: Final = 60.0
MAX_KNOWN: Final = 1000
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptRecording:
    """``size`` is that of the plain file; ``cipher`` is None for a file that is not encrypted."""

    file: KeptFile
    size: int
    key: DataKey | None
    cipher: FileCipher | None


class RecordingVault:
    """``encrypts``: whether new recordings are encrypted. Those that exist are read either way."""

    def __init__(self, db: Database, storage: FileStore, keys: DataKeys, *, encrypts: bool) -> None:
        self._db = db
        self.storage = storage
        self.keys = keys
        self.encrypts = encrypts
        # Keys that were read lately: a request must not wait for a second connection for each range.
        self._known: dict[tuple[int, int], tuple[float, DataKey]] = {}

    # -- writing --------------------------------------------------------------------------------------------------

    async def find_new_key(self, organization_id: int) -> DataKey | None:
        """Returns the key for a new recording; None when it is not encrypted."""
        if not self.encrypts:
            return None
        async with self._db.transaction() as session:
            return await self.keys.get_newest(session, organization_id)

    async def repair(self, key: str) -> bool:
        """Completes the file of a process that died; returns False when there is no sound in it."""
        path = self.storage.path_for(key)
        try:
            file = await self._open_local(key, path)
        except FileNotFoundError:
            return True
        return await asyncio.to_thread(_repair, file)

    async def add_part(self, key: str) -> None:
        """Adds the part of a call that is on this machine to what the bucket has of it.

        Raises FileGone when the bucket has nothing, SecretUnreadable, and PartsDiffer when they do not fit.
        """
        copy = self.storage.path_for(f"uploads/{secrets.token_hex(8)}.wav")
        try:
            await self.storage.fetch(key, copy)
            recording = await self._open_local(key, copy)
            try:
                part = await self._open_local(key, self.storage.path_for(key))
                try:
                    changed = await asyncio.to_thread(add_part, recording, part)
                finally:
                    part.close()
            finally:
                recording.close()
            if changed:
                await self.storage.put(key, copy)
        finally:
            copy.unlink(missing_ok=True)

    async def _open_local(self, key: str, path: Path) -> RandomAccessFile:
        number = read_key_number(await asyncio.to_thread(_read_head, path))
        if number is None:
            return await asyncio.to_thread(PlainFile, path)
        return await asyncio.to_thread(SealedFile, path, await self._find_key(key, number))

    async def _find_key(self, key: str, number: int) -> DataKey:
        organization_id = organization_of(key)
        known = self._known.get((organization_id, number))
        if known is not None and time.monotonic() - known[0] < KNOWN_S:
            return known[1]
        async with self._db.transaction() as session:
            found = await self.keys.find_key(session, organization_id, number)
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[organization_id, number] = (time.monotonic(), found)
        return found

    # -- reading --------------------------------------------------------------------------------------------------

    async def find_file(self, key: str) -> KeptRecording:
        """Returns a recording at its current length. Raises FileGone, also when its key was deleted."""
        kept = await self.storage.find_file(key)
        head = b"".join([part async for part in self.storage.read_range(kept, 0, min(kept.size, HEADER_BYTES))])
        number = read_key_number(head)
        if number is None:
            return KeptRecording(kept, kept.size, None, None)
        try:
            data_key = await self._find_key(key, number)
        except SecretUnreadable:
            raise FileGone(key) from None
        return KeptRecording(kept, plain_size(kept.size), data_key, derive_file_cipher(data_key, head))

    async def read_range(self, file: KeptRecording, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yields the plain bytes from ``start`` to before ``stop``."""
        if file.cipher is None or file.key is None:
            async for part in self.storage.read_range(file.file, start, stop):
                yield part
        elif file.file.path is not None:
            source = await asyncio.to_thread(SealedFile, file.file.path, file.key)
            try:
                while start < stop and (
                    part := await asyncio.to_thread(source.read_at, start, min(_BLOCK, stop - start))
                ):
                    start += len(part)
                    yield part
            finally:
                source.close()
        elif start < stop:
            stored = self.storage.read_range(file.file, *stored_range(start, stop, file.file.size))
            async for part in decrypt_range(stored, file.cipher, start, stop):
                yield part

    @asynccontextmanager
    async def open_file(self, key: str) -> AsyncIterator[BinaryIO]:
        """Provides the plain recording for the length of the block; read it in a thread. Raises FileGone."""
        async with self.storage.open_file(key) as path:
            try:
                file = await self._open_local(key, path)
            except SecretUnreadable:
                raise FileGone(key) from None
            if isinstance(file, SealedFile):
                reader: BinaryIO = io.BufferedReader(SealedReader(file), _BLOCK)
            else:
                file.close()
                reader = await asyncio.to_thread(path.open, "rb")
            with reader:
                yield reader


def organization_of(key: str) -> int:
    """Returns the organization of a recording's key, ``recordings/ORGANIZATION/RUN.wav``."""
    return int(key.split("/")[1])


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEADER_BYTES)


def _repair(file: RandomAccessFile) -> bool:
    try:
        if isinstance(file, SealedFile):
            file.cut_torn_end()
        repair_wav_header(file)
        return file.size > WAV_HEADER_BYTES
    finally:
        file.close()
