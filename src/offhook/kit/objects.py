"""Large files by key: on the local disk, or in a bucket that every machine reaches (S3, Google, Azure)."""

import asyncio
from pathlib import Path
from typing import Final

import obstore
from obstore.exceptions import NotFoundError
from obstore.store import LocalStore, ObjectStore, from_url

_CHUNK: Final = 1 << 20


class FileGone(Exception):
    """Nothing is kept under this key."""


class Objects:
    """``address`` is a folder, or ``s3://bucket/prefix`` (``gs://``, ``az://``; credentials from their usual variables).

    Keys are relative paths that we make, never the user's.
    """

    def __init__(self, address: Path | str) -> None:
        self._address = address
        self._store: ObjectStore | None = None

    def _opened(self) -> ObjectStore:
        if self._store is None:
            if isinstance(self._address, Path):
                self._store = LocalStore(self._address, mkdir=True)
            else:
                self._store = from_url(self._address)
        return self._store

    async def put(self, key: str, source: Path) -> None:
        """Keep a copy of a file; what was there is replaced."""
        store = await asyncio.to_thread(self._opened)
        await obstore.put_async(store, key, source)

    async def fetch(self, key: str, target: Path) -> None:
        """Write what is kept to a file. FileGone."""
        store = await asyncio.to_thread(self._opened)
        try:
            found = await obstore.get_async(store, key)
        except (FileNotFoundError, NotFoundError) as error:
            raise FileGone(key) from error
        with target.open("wb") as out:
            async for part in found.stream(min_chunk_size=_CHUNK):
                await asyncio.to_thread(out.write, part)

    async def delete(self, key: str) -> None:
        """Nothing kept is fine."""
        store = await asyncio.to_thread(self._opened)
        try:
            await obstore.delete_async(store, key)
        except (FileNotFoundError, NotFoundError):
            return
