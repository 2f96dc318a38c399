"""Large files by key: on the local disk, or in a bucket that every machine reaches (S3, Google, Azure)."""

import asyncio
from pathlib import Path
from typing import Any, Final

_CHUNK: Final = 1 << 20


class FileGone(Exception):
    """Nothing is kept under this key."""


class Objects:
    """``address`` is a folder, or ``s3://bucket/prefix`` (``gs://``, ``az://``; credentials from their usual variables).

    Keys are relative paths that we make, never the user's.
    """

    def __init__(self, address: Path | str) -> None:
        self._address = address
        self._store: Any = None
        self._obstore: Any = None

    def _opened(self) -> tuple[Any, Any]:
        """``(the library, the store)``."""
        if self._store is None:
            import obstore  # noqa: PLC0415 - 5 MB: only where documents are touched
            import obstore.exceptions  # noqa: PLC0415
            import obstore.store  # noqa: PLC0415

            self._obstore = obstore
            if isinstance(self._address, Path):
                self._store = obstore.store.LocalStore(self._address, mkdir=True)
            else:
                self._store = obstore.store.from_url(self._address)
        return self._obstore, self._store

    async def put(self, key: str, source: Path) -> None:
        """Keep a copy of a file; what was there is replaced."""
        obstore, store = await asyncio.to_thread(self._opened)
        await obstore.put_async(store, key, source)

    async def fetch(self, key: str, target: Path) -> None:
        """Write what is kept to a file. FileGone."""
        obstore, store = await asyncio.to_thread(self._opened)
        try:
            found = await obstore.get_async(store, key)
        except (FileNotFoundError, obstore.exceptions.NotFoundError) as error:
            raise FileGone(key) from error
        with target.open("wb") as out:
            async for part in found.stream(min_chunk_size=_CHUNK):
                await asyncio.to_thread(out.write, part)

    async def delete(self, key: str) -> None:
        """Nothing kept is fine."""
        obstore, store = await asyncio.to_thread(self._opened)
        try:
            await obstore.delete_async(store, key)
        except (FileNotFoundError, obstore.exceptions.NotFoundError):
            return
