"""Single reads on the driver itself, for what every request pays for: a fifth of the CPU of the same read by SQLAlchemy."""

import asyncio
from typing import Any, Final

import asyncpg

_CONNECTIONS: Final = 4
# What a lost or restarted server makes of a connection; the read is done once more, on another one.
_LOST: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


async def _keep(_: asyncpg.Connection) -> None:
    """Reads leave nothing behind in a connection, and the usual reset is a round trip of its own."""


class Reads:
    """A few connections of their own outside of transactions; opened with the first read, in its event loop."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("postgresql+asyncpg://", "postgresql://", 1)
        self._pool: asyncpg.Pool | None = None
        self._opening = asyncio.Lock()

    async def row(self, statement: str, *arguments: Any) -> asyncpg.Record | None:
        """The first row of one SELECT with ``$1`` …; ConnectionError when the database is away."""
        pool = self._pool or await self._open()
        try:
            async with pool.acquire() as connection:
                return await connection.fetchrow(statement, *arguments)
        except _LOST:
            pass
        try:
            async with pool.acquire() as connection:
                return await connection.fetchrow(statement, *arguments)
        except _LOST as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _open(self) -> asyncpg.Pool:
        async with self._opening:
            if self._pool is None:
                try:
                    self._pool = await asyncpg.create_pool(
                        self._url, min_size=0, max_size=_CONNECTIONS, max_inactive_connection_lifetime=600, reset=_keep
                    )
                except _LOST as error:
                    raise ConnectionError(f"{type(error).__name__}: {error}") from error
            return self._pool
