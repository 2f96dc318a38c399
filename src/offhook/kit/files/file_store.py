"""The file storage, by key: a local folder, or a bucket shared by all machines (S3, Google, Azure)."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.errors import DomainError

_CHUNK: Final = 1 << 20
# Of an upload, in memory: each has 5 MB.
MAX_PARTS: Final = 3
# Temporary copies of bucket files while they are read.
_COPIES: Final = "uploads"
# A request that waits for an upload fails before its client gives up on a dead bucket.
_RETRIES: Final = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
_IN_CLOUDS: Final = ("s3://", "gs://", "az://", "azure://")
log = structlog.get_logger(__name__)


class FileGone(Exception):
    """There is no file under this key."""


class StorageUnavailable(DomainError):
    """File storage is unavailable. Try again later."""

    code = "storage_unavailable"
    status = 503


NO_BUCKET: Final = "File storage is unavailable: the bucket in OFFHOOK_STORAGE_URL does not exist."
REFUSED: Final = "File storage rejected this server. Check its credentials and their permissions."
CLOCK: Final = "File storage rejected this server because its clock is wrong. Set the clock."
DISK: Final = "File storage failed on this server. Check its disk."


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file with its size in bytes at the time of the request; ``path`` is set if it is on this machine."""

    key: str
    size: int
    path: Path | None


class FileStore:
    """Stores files by key: they are created locally under ``root`` and stored by :meth:`keep`.

    Without ``bucket`` they stay there. ``bucket`` is ``s3://bucket/prefix`` (``gs://``, ``az://``; credentials from
    their usual variables): :meth:`keep` moves them into it. Keys are relative paths that we choose, never the
    user's. Every asynchronous method raises StorageUnavailable (503), whose message says whether the bucket, its
    credentials or the disk is at fault.
    """

    def __init__(self, root: Path, bucket: str | None = None) -> None:
        self.root = root
        self._bucket = bucket
        self._store: Any = None
        self._obstore: Any = None
        self._library_errors: tuple[type[Exception], ...] = ()  # none before the library is loaded
        self.is_shared = bucket is not None  # other machines can reach stored files

    def _open_store(self) -> tuple[Any, Any]:
        """Returns ``(the library, the store)``."""
        if self._store is None:
            import obstore  # noqa: PLC0415 - 5 MB: only where documents are touched
            import obstore.exceptions  # noqa: PLC0415
            import obstore.store  # noqa: PLC0415

            self._obstore = obstore
            self._library_errors = (obstore.exceptions.BaseError, ValueError)
            if self._bucket is None:
                self._store = obstore.store.LocalStore(self.root, mkdir=True)
            elif self._bucket.startswith(_IN_CLOUDS):
                self._store = obstore.store.from_url(self._bucket, retry_config=_RETRIES)  # type: ignore[call-overload]
            else:
                self._store = obstore.store.from_url(self._bucket)
        return self._obstore, self._store

    def path_for(self, key: str) -> Path:
        """Returns the local path of a new file and creates its folder. Raises ValueError when the key leaves the
        folder."""
        path = (self.root / key).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ValueError(f"key {key!r} leaves the storage folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    async def keep(self, key: str, draft: Path) -> None:
        """Moves a file of this machine to its key, replacing an existing one. It stays where it is on failure."""
        if self.is_shared:
            await self.put(key, draft)
            if (await self._find_stored(key)).size != (await asyncio.to_thread(draft.stat)).st_size:
                log.error("storage_failed", error=f"the bucket has another length of {key} than was stored")
                raise StorageUnavailable
            await asyncio.to_thread(draft.unlink, missing_ok=True)
        else:
            await asyncio.to_thread(draft.replace, self.path_for(key))

    @asynccontextmanager
    async def open_file(self, key: str) -> AsyncIterator[Path]:
        """Provides a local copy for the length of the block, whether stored or still being written. Raises FileGone."""
        file = await self.find_file(key)
        if file.path is not None:
            yield file.path
            return
        copy = self.path_for(f"{_COPIES}/{secrets.token_hex(8)}")
        try:
            await self.fetch(key, copy)
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    async def find_file(self, key: str) -> KeptFile:
        """Returns a file at its current length, stored or still being written on this machine. Raises FileGone.

        What is stored goes before what lies here: another machine may have finished what was begun here.
        """
        path = self.path_for(key)
        local: KeptFile | None = None
        with suppress(FileNotFoundError):
            local = KeptFile(key, (await asyncio.to_thread(path.stat)).st_size, path)
        if not self.is_shared:
            if local is None:
                raise FileGone(key)
            return local
        try:
            return await self._find_stored(key)
        except (FileGone, StorageUnavailable):
            if local is None:
                raise
            return local

    async def _find_stored(self, key: str) -> KeptFile:
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                return KeptFile(key, (await obstore.head_async(store, key))["size"], None)

    async def read_range(self, file: KeptFile, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yields the bytes from ``start`` up to but not including ``stop``, in parts; fewer when the file has
        shrunk."""
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
        """Stores a copy of a file, replacing an existing one."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            try:
                await obstore.put_async(store, key, source, max_concurrency=MAX_PARTS)
            except FileNotFoundError as error:
                raise StorageUnavailable(NO_BUCKET) from error

    async def put_first(self, key: str, source: Path) -> None:
        """Stores a copy of a small file unless the key exists; of two calls at once, one stores it. A store that does not
        support the condition overwrites."""
        try:
            with self._translate_errors():
                obstore, store = await asyncio.to_thread(self._open_store)
                with suppress(obstore.exceptions.AlreadyExistsError):
                    await obstore.put_async(store, key, source, mode="create", use_multipart=False)
        except StorageUnavailable as error:
            cause = error.__cause__
            if type(cause).__name__ != "NotSupportedError" and "501 Not Implemented" not in str(cause):
                raise
            await self.put(key, source)

    async def fetch(self, key: str, target: Path) -> None:
        """Writes a stored file to a local file. Raises FileGone."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                found = await obstore.get_async(store, key)
            with target.open("wb") as out:
                async for part in found.stream(min_chunk_size=_CHUNK):
                    await asyncio.to_thread(out.write, part)

    async def delete(self, key: str) -> None:
        """Deletes a file; a missing one is no error."""
        if self.is_shared:  # or it is still being written
            self.path_for(key).unlink(missing_ok=True)
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            try:
                with _translate_missing(key):
                    await obstore.delete_async(store, key)
            except FileGone:
                return

    async def has_stored(self, key: str) -> bool:
        """Returns whether the bucket has the file."""
        try:
            await self._find_stored(key)
        except FileGone:
            return False
        return True

    async def last_modified(self, key: str) -> datetime:
        """Returns when a file was last stored. Raises FileGone."""
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            with _translate_missing(key):
                known: datetime = (await obstore.head_async(store, key))["last_modified"]
        return known

    async def measure_folder(self, folder: str) -> int:
        """Returns the sum of the sizes of all files below a folder, in bytes."""
        return sum([sum(item["size"] for item in batch) async for batch in self._list_files(folder)])

    async def list_keys(self, folder: str) -> AsyncIterator[list[tuple[str, datetime]]]:
        """Yields ``(key, when it was last stored)`` of all files below a folder, at most a thousand at a time."""
        async for batch in self._list_files(folder):
            yield [(item["path"], item["last_modified"]) for item in batch]

    async def _list_files(self, folder: str) -> AsyncIterator[Sequence[Any]]:
        with self._translate_errors():
            obstore, store = await asyncio.to_thread(self._open_store)
            batches = obstore.list(store, folder, chunk_size=1000)
        while True:
            with self._translate_errors():
                batch = await anext(batches, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translates the library's errors to a message; the original goes to the log."""
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
    """Raises FileGone for a missing file, unless the bucket itself is missing."""
    try:
        yield
    except FileNotFoundError as error:
        raise (StorageUnavailable(NO_BUCKET) if "NoSuchBucket" in str(error) else FileGone(key)) from error


def _describe_failure(error: Exception) -> str | None:
    message = str(error)
    names = {base.__name__ for base in type(error).__mro__}
    if "NoSuchBucket" in message:
        return NO_BUCKET
    if "RequestTimeTooSkewed" in message:
        return CLOCK
    if (
        names & {"PermissionDeniedError", "UnauthenticatedError"}
        or "401 Unauth" in message
        or "403 Forbidden" in message
    ):
        return REFUSED
    return None


def _shorten_error(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition('Debug source')[0].strip()[:500]}"
