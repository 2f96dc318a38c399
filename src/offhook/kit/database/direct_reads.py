"""Single reads directly on the driver, for every request's needs: a tenth of the CPU of the same read by SQLAlchemy."""

import asyncio
import time
from typing import Any, Final

import asyncpg

from offhook.kit.database.connecting import open_connection
from offhook.kit.database.database import Database
from offhook.kit.database.tcp_keepalive import keep_socket_alive

_CONNECTIONS: Final = 4
_CLOSE_TIMEOUT_S: Final = 5.0
READ_TIMEOUT_S: Final = 5.0
# A proxy or firewall between us and the server may silently drop an idle connection.
_MAX_IDLE_S: Final = 600.0
# Errors of a connection to a lost or restarted server; the read is repeated once, on another connection. Internal: the
# server's farewell was read, and the end of the connection was not yet.
_CONNECTION_ERRORS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)


class DirectReadPool:
    """A few separate connections outside transactions (but with a pooler), opened as needed, in the event loop of the reads.

    The driver's pool costs twice as much as such a read: a task and a shield for each return, resets and proxies.
    Reads leave no state behind in a connection, so here one is taken from a list and put back.
    """

    def __init__(self, database: Database, *, timeout_s: float = READ_TIMEOUT_S) -> None:
        self._url = database.pooler_url or database.url
        self._is_pooled = database.pooler_url is not None
        self._idle: list[tuple[asyncpg.Connection, float]] = []
        self._timeout_s = timeout_s
        self._is_closed = False
        self._turns = asyncio.Semaphore(_CONNECTIONS)

    async def fetch_row(self, statement: str, *arguments: Any) -> asyncpg.Record | None:
        """Returns the first row of one SELECT with ``$1`` …; raises ConnectionError when the database is
        unavailable."""
        async with self._turns:
            try:
                return await self._fetch_row(statement, arguments)
            except _CONNECTION_ERRORS:
                while self._idle:  # they were lost with it
                    self._idle.pop()[0].terminate()
            try:
                return await self._fetch_row(statement, arguments)
            except _CONNECTION_ERRORS as error:
                raise ConnectionError(f"{type(error).__name__}: {error}") from error

    async def close(self) -> None:
        """Closes idle connections now, and the others when their read is done."""
        self._is_closed = True
        while self._idle:
            connection, _ = self._idle.pop()
            try:
                await connection.close(timeout=_CLOSE_TIMEOUT_S)
            except _CONNECTION_ERRORS:
                connection.terminate()

    async def _fetch_row(self, statement: str, arguments: tuple[Any, ...]) -> asyncpg.Record | None:
        connection = await self._take_connection()
        try:
            if self._is_pooled:
                # What is parsed and what is run are two messages: only a transaction keeps them on one server connection.
                async with connection.transaction():
                    row = await connection.fetchrow(statement, *arguments)
            else:
                row = await connection.fetchrow(statement, *arguments)
        except BaseException:  # also when canceled in the middle of an answer: no other read may get the rest of it
            connection.terminate()
            raise
        if self._is_closed:
            connection.terminate()
        else:
            self._idle.append((connection, time.monotonic()))
        return row

    async def _take_connection(self) -> asyncpg.Connection:
        oldest = time.monotonic() - _MAX_IDLE_S
        while self._idle:
            connection, since = self._idle.pop()
            if since > oldest and not connection.is_closed():
                return connection
            connection.terminate()
        connection = await open_connection(
            self._url,
            command_timeout=self._timeout_s,
            statement_cache_size=0 if self._is_pooled else 100,
        )
        keep_socket_alive(connection)
        return connection
