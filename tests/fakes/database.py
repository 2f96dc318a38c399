"""A real database whose connection fails when a test wants it to, and a way to one that falls silent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database


class FaultyDatabase(Database):
    """``is_away`` refuses every transaction; ``loses_next_answer`` commits one and then cuts the line, as networks do."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=2)
        self.is_away = False
        self.loses_next_answer = False

    @asynccontextmanager
    async def transaction(self, organization_id: int | None = None) -> AsyncIterator[AsyncSession]:
        if self.is_away:
            raise ConnectionRefusedError("the database is away")
        is_answer_lost, self.loses_next_answer = self.loses_next_answer, False
        async with super().transaction(organization_id) as session:
            yield session
        if is_answer_lost:
            raise ConnectionResetError("committed, but nobody was told")


class SilentProxy:
    """Stands between a process and PostgreSQL, as a NAT or a proxy does.

    After :meth:`fall_silent` the connections of that moment stay open and carry nothing any more, neither an answer nor an
    end; new ones work. ``url`` leads through it.
    """

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._silent: set[int] = set()
        self._connections: dict[int, list[asyncio.StreamWriter]] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        user = self._target.username or parse_qs(self._target.query).get("user", ["postgres"])[0]
        self.url = f"postgresql+asyncpg://{user}@127.0.0.1:{port}{self._target.path}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        for writer in (writer for pair in self._connections.values() for writer in pair):
            writer.close()

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def fall_silent(self) -> None:
        self._silent = set(self._connections)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        query = parse_qs(self._target.query)
        if folder := query.get("host"):
            far_reader, far_writer = await asyncio.open_unix_connection(
                f"{folder[0]}/.s.PGSQL.{query.get('port', ['5432'])[0]}"
            )
        else:
            far_reader, far_writer = await asyncio.open_connection(self._target.hostname, self._target.port or 5432)
        number = len(self._connections)
        self._connections[number] = [writer, far_writer]
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pump(number, source, sink))
            self._tasks.add(task)

    async def _pump(self, number: int, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if number not in self._silent:
                sink.write(data)
        if number not in self._silent:
            sink.close()
