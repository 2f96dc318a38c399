"""The one storage for files, by key: a folder of this machine, or a bucket that all machines reach (S3, Google, Azure)."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.errors import DomainError

_CHUNK: Final = 1 << 20
# Copies of what a bucket keeps, while they are read.
_COPIES: Final = "uploads"
# A request that waits for an upload hears of a dead bucket before its client gives up.
_RETRIES: Final = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
_IN_CLOUDS: Final = ("s3://", "gs://", "az://", "azure://")
log = structlog.get_logger(__name__)


class FileGone(Exception):
    """Nothing is kept under this key."""


class StorageUnavailable(DomainError):
    """The storage for files does not answer: try again in a while."""

    code = "storage_unavailable"
    status = 503


NO_BUCKET: Final = "The storage for files is not there: the bucket of OFFHOOK_STORAGE_URL does not exist."
REFUSED: Final = "The storage for files refuses this server: its credentials, or what they may do, are wrong."
DISK: Final = "The storage for files cannot be written or read: look at the disk of this server."


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file as long as it was when it was asked for, in bytes; ``path`` where it lies on this machine."""

    key: str
    size: int
    path: Path | None


class FileStore:
    """Files are made below ``root``, a folder of this machine, at :meth:`path_for` their key, and kept with :meth:`keep`.

    Without ``bucket`` they stay there. ``bucket`` is ``s3://bucket/prefix`` (``gs://``, ``az://``; credentials from their
    usual variables): :meth:`keep` moves them into it. Keys are relative paths that we make, never the user's. Everything
    asynchronous raises StorageUnavailable (503), whose sentence says whether the bucket, its credentials or the disk is
    at fault.
    """

    def __init__(self, root: Path, bucket: str | None = None) -> None:
        self.root = root
        self._bucket = bucket
        self._store: Any = None
        self._obstore: Any = None

    def _open_store(self) -> tuple[Any, Any]:
        """``(the library, the store)``."""
        if self._store is None:
            import obstore  # noqa: PLC0415 - 5 MB: only where documents are touched
            import obstore.exceptions  # noqa: PLC0415
            import obstore.store  # noqa: PLC0415

            self._obstore = obstore
            if self._bucket is None:
                self._store = obstore.store.LocalStore(self.root, mkdir=True)
            elif self._bucket.startswith(_IN_CLOUDS):
                self._store = obstore.store.from_url(self._bucket, retry_config=_RETRIES)  # type: ignore[call-overload]
            else:
                self._store = obstore.store.from_url(self._bucket)
        return self._obstore, self._store

    @property
    def _library_errors(self) -> tuple[type[Exception], ...]:
        """What the library raises; nothing before it is loaded."""
        return () if self._obstore is None else (self._obstore.exceptions.BaseError, ValueError)

    @property
    def is_shared(self) -> bool:
        """Whether other machines reach what is kept."""
        return self._bucket is not None

    def path_for(self, key: str) -> Path:
        """Where a file is made on this machine, its folder made; ValueError when the key leaves the folder."""
        path = (self.root / key).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ValueError(f"key {key!r} leaves the storage folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    async def keep(self, key: str) -> None:
        """Keeps the file that was made at ``path_for(key)``; it leaves this machine when a bucket keeps it."""
        if self.is_shared:
            path = self.path_for(key)
            await self.put(key, path)
            path.unlink(missing_ok=True)

    @asynccontextmanager
    async def open_file(self, key: str) -> AsyncIterator[Path]:
        """The file on this machine for as long as the block lasts, kept or still being made. FileGone."""
        path = self.path_for(key)
        if path.is_file():
            yield path
            return
        if not self.is_shared:
            raise FileGone(key)
        copy = self.path_for(f"{_COPIES}/{secrets.token_hex(8)}")
        try:
            await self.fetch(key, copy)
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    async def find_file(self, key: str) -> KeptFile:
        """A file, kept or still being made on this machine, as long as it is now. FileGone."""
        path = self.path_for(key)
        try:
            return KeptFile(key, (await asyncio.to_thread(path.stat)).st_size, path)
        except FileNotFoundError:
            if not self.is_shared:
                raise FileGone(key) from None
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                return KeptFile(key, (await obstore.head_async(store, key))["size"], None)

    async def read_range(self, file: KeptFile, start: int, stop: int) -> AsyncIterator[bytes]:
        """The bytes from ``start`` on and before ``stop``, in parts; fewer when the file has become shorter."""
        if file.path is not None:
            descriptor = await asyncio.to_thread(os.open, file.path, os.O_RDONLY)
            try:
                while start < stop and (
                    part := await asyncio.to_thread(os.pread, descriptor, min(_CHUNK, stop - start), start)
                ):
                    start += len(part)
                    yield part
            finally:
                os.close(descriptor)
            return
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            while start < stop:
                end = min(stop, start + _CHUNK)
                with _translate_missing(file.key):
                    part = bytes(await obstore.get_range_async(store, file.key, start=start, end=end))
                start = end
                yield part

    async def put(self, key: str, source: Path) -> None:
        """Keep a copy of a file; what was there is replaced."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            try:
                await obstore.put_async(store, key, source)
            except FileNotFoundError as error:
                raise StorageUnavailable(NO_BUCKET) from error

    async def fetch(self, key: str, target: Path) -> None:
        """Write what is kept to a file. FileGone."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                found = await obstore.get_async(store, key)
            with target.open("wb") as out:
                async for part in found.stream(min_chunk_size=_CHUNK):
                    await asyncio.to_thread(out.write, part)

    async def delete(self, key: str) -> None:
        """Nothing kept is fine."""
        if self.is_shared:  # or it is still being made
            self.path_for(key).unlink(missing_ok=True)
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            try:
                with _translate_missing(key):
                    await obstore.delete_async(store, key)
            except FileGone:
                return

    async def last_modified(self, key: str) -> datetime:
        """When a file was last put. FileGone."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                known: datetime = (await obstore.head_async(store, key))["last_modified"]
        return known

    async def list_keys(self, folder: str) -> AsyncIterator[list[tuple[str, datetime]]]:
        """``(key, when it was last put)`` of everything below a folder, a thousand at a time at most."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            batches = obstore.list(store, folder, chunk_size=1000)
        while True:
            with self._translate_errors():
                batch = await anext(batches, None)
            if batch is None:
                return
            yield [(item["path"], item["last_modified"]) for item in batch]

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """What the library raises, as a sentence; its own words go to the log."""
        try:
            yield
        except (FileGone, StorageUnavailable):
            raise
        except OSError as error:
            log.error("storage_failed", error=_shorten_error(error))
            raise StorageUnavailable(DISK) from error
        except self._library_errors as error:
            log.error("storage_failed", error=_shorten_error(error))
            raise StorageUnavailable(_describe_failure(error)) from error


@contextmanager
def _translate_missing(key: str) -> Iterator[None]:
    """FileGone for what is not there, unless the bucket is what is not there."""
    try:
        yield
    except FileNotFoundError as error:
        raise (StorageUnavailable(NO_BUCKET) if "NoSuchBucket" in str(error) else FileGone(key)) from error


def _describe_failure(error: Exception) -> str | None:
    said = str(error)
    names = {base.__name__ for base in type(error).__mro__}
    if "NoSuchBucket" in said:
        return NO_BUCKET
    if names & {"PermissionDeniedError", "UnauthenticatedError"} or "401 Unauth" in said or "403 Forbidden" in said:
        return REFUSED
    return None


def _shorten_error(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition('Debug source')[0].strip()[:500]}"
