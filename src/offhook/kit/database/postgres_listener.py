"""One LISTEN connection that is reopened whenever it is lost: receives notifications from other processes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import asyncpg
import structlog

from offhook.kit.database.connecting import open_connection
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.database.tcp_keepalive import keep_socket_alive

_RECONNECT_S: Final = 1.0
# LISTEN sends nothing by itself: only a question shows that the server, or what is between, still knows the connection.
PROBE_INTERVAL_S: Final = 10.0
PROBE_TIMEOUT_S: Final = 5.0
log = structlog.get_logger(__name__)


class PostgresListener:
    """``on_payload`` gets each payload of ``channel``. ``on_deaf`` is called after every connect: earlier
    notifications were missed, so each reader checks once."""

    def __init__(
        self,
        db: Database,
        channel: str,
        on_payload: Callable[[str], None],
        on_deaf: Callable[[], None],
        *,
        name: str,
        probe_interval_s: float = PROBE_INTERVAL_S,
        probe_timeout_s: float = PROBE_TIMEOUT_S,
    ) -> None:
        self._db = db
        self._channel = channel
        self._on_payload = on_payload
        self._on_deaf = on_deaf
        self._name = name
        self._probe_interval_s = probe_interval_s
        self._probe_timeout_s = probe_timeout_s
        self._task: asyncio.Task[None] | None = None
        self._is_listening = asyncio.Event()

    def start(self) -> None:
        """Starts listening; idempotent."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen_forever(), name=self._name)

    async def wait_until_ready(self, timeout_s: float = 2.0) -> None:
        """Waits until notifications of other processes arrive, so that none is lost between reading and listening."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_listening.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._listen_until_lost()
            except DATABASE_ERRORS as error:
                log.warning("listener_disconnected", name=self._name, error=type(error).__name__)
            self._is_listening.clear()
            await asyncio.sleep(_RECONNECT_S)

    async def _listen_until_lost(self) -> None:
        connection = await open_connection(self._db.url, command_timeout=self._probe_timeout_s)
        keep_socket_alive(connection)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(self._channel, self._on_notify)
            self._is_listening.set()
            self._on_deaf()
            await self._probe_until_lost(connection, lost)
        finally:
            connection.terminate()

    async def _probe_until_lost(self, connection: asyncpg.Connection, lost: asyncio.Event) -> None:
        """Returns when the server ended the connection; raises TimeoutError when it no longer answers."""
        while not lost.is_set():
            try:
                async with asyncio.timeout(self._probe_interval_s):
                    await lost.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")

    def _on_notify(self, _connection: Any, _pid: int, _channel: str, payload: Any) -> None:
        self._on_payload(str(payload))
