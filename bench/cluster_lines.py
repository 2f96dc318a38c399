"""Lines of processes to the database: TCP on loopback, which can be refused or fall silent."""

import asyncio
from contextlib import suppress
from typing import Literal, Self

State = Literal["open", "refused", "silent"]


class DatabaseLine:
    """A TCP proxy in front of the database's socket, for one process or for several.

    ``refused``: connections end and new ones are turned away, as by a database that is down. ``silent``: connections of
    that time stay open for ever and carry nothing, as after a fail-over or behind a NAT that forgot them.
    """

    def __init__(self, socket_path: str) -> None:
        self._socket_path = socket_path
        self._state: State = "open"
        self._connections: dict[int, tuple[asyncio.StreamWriter, ...]] = {}
        self._silent: set[int] = set()
        self._count = 0
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._end_connections()

    @property
    def url(self) -> str:
        return f"postgresql://offhook@127.0.0.1:{self.port}/offhook"

    def set_socket(self, socket_path: str) -> None:
        """Leads to another socket from now on: a database that starts again has a new one."""
        self._socket_path = socket_path

    def set_state(self, state: State) -> None:
        self._state = state
        if state == "refused":
            self._end_connections()
        elif state == "silent":
            self._silent |= set(self._connections)

    def _end_connections(self) -> None:
        for writers in self._connections.values():
            for writer in writers:
                writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        number = self._count
        self._connections[number] = (writer,)
        if self._state == "silent":
            self._silent.add(number)
        try:
            if self._state == "silent":
                await reader.read(-1)
            elif self._state == "open":
                await self._carry(number, reader, writer)
        except OSError:
            pass
        finally:
            self._connections.pop(number, None)
            self._silent.discard(number)
            writer.transport.abort()

    async def _carry(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._socket_path)
        self._connections[number] = (writer, far_writer)
        try:
            await asyncio.gather(self._pump(number, reader, far_writer), self._pump(number, far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _pump(self, number: int, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                if number not in self._silent:
                    sink.write(data)
                    await sink.drain()
        # a silent connection does not pass on its end either
        if number not in self._silent:
            sink.transport.abort()
