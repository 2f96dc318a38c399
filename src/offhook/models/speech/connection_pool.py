"""Connections to one voice that stay open between sentences, so that no caller waits for a handshake."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from offhook.kit.media_sockets.client import ClientSocket
from offhook.models.ports import ModelError
from offhook.models.speech.errors import VendorErrors

# Longer than the pause between two turns; beyond it a warm connection only costs.
MAX_IDLE_S: Final = 120.0
MAX_IDLE_CONNECTIONS: Final = 16
# Time limit for a vendor to confirm that it has stopped.
DRAIN_TIMEOUT_S: Final = 1.5


class PooledConnection:
    """One socket, used by one sentence at a time. Implements MessageReceiver: messages go to the sentence's queue."""

    def __init__(self, errors: VendorErrors, on_free: Callable[["PooledConnection"], None]) -> None:
        self._errors = errors
        self._on_free = on_free
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._drained_by: Callable[[str], bool] | None = None
        self.socket: ClientSocket | None = None
        self.incoming: asyncio.Queue[str | bytes | ModelError] = asyncio.Queue()
        self.used_at: deque[float] = deque(maxlen=64)
        self.is_lent = False

    @property
    def is_open(self) -> bool:
        return self.socket is not None and self.socket.is_open

    def send(self, *messages: str) -> None:
        if self.socket is not None:
            for message in messages:
                self.socket.send(message)

    def drain_until(self, is_end: Callable[[str], bool]) -> None:
        """Reserves the socket until a message says that the vendor has stopped; drops it when none does."""
        self._drained_by = is_end
        self._timer = self._loop.call_later(DRAIN_TIMEOUT_S, self.close)

    def close(self) -> None:
        self._stop_draining()
        if self.socket is not None:
            self.socket.close()

    def _stop_draining(self) -> None:
        self._drained_by = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # MessageReceiver

    def on_text(self, text: str) -> None:
        if self._drained_by is not None:
            if self._drained_by(text):
                self._stop_draining()
                self._on_free(self)
        elif self.is_lent:
            self.incoming.put_nowait(text)

    def on_binary(self, payload: bytes) -> None:
        if self.is_lent and self._drained_by is None:
            self.incoming.put_nowait(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self._stop_draining()
        if self.is_lent:
            self.incoming.put_nowait(self._errors.closed_error(code, reason))


@dataclass(eq=False)
class VendorConnectionPool:
    """Lends the warmest connection, or opens one. ``uses_per_minute``: the vendor's limit per connection."""

    open: Callable[[PooledConnection], Awaitable[ClientSocket]]
    errors: VendorErrors
    idle_message: str | None = None
    idle_every_s: float = 10.0
    uses_per_minute: int | None = None
    _idle: list[tuple[PooledConnection, float]] = field(default_factory=list)
    _all: set[PooledConnection] = field(default_factory=set)
    _keepalive_timer: asyncio.TimerHandle | None = None

    async def acquire(self, *, only_new: bool = False) -> tuple[PooledConnection, bool]:
        """Returns a connection and True if it was used before; raises ModelError when none can be opened."""
        now = asyncio.get_running_loop().time()
        self._drop_stale(now)
        if not only_new:
            for index in range(len(self._idle) - 1, -1, -1):
                recent_uses = sum(1 for at in self._idle[index][0].used_at if now - at < 60)
                if self.uses_per_minute is None or recent_uses < self.uses_per_minute:
                    connection, _ = self._idle.pop(index)
                    return self._mark_lent(connection, now), True
        connection = PooledConnection(self.errors, self.release)
        connection.socket = await self.open(connection)
        self._all.add(connection)
        return self._mark_lent(connection, now), False

    def release(self, connection: PooledConnection) -> None:
        """Returns a connection to the pool; drops a closed or surplus one."""
        connection.is_lent = False
        if not connection.is_open or len(self._idle) >= MAX_IDLE_CONNECTIONS:
            self.discard(connection)
            return
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.time()))
        if self._keepalive_timer is None:
            self._keepalive_timer = loop.call_later(self.idle_every_s, self._keep_idle_alive)

    def discard(self, connection: PooledConnection) -> None:
        connection.is_lent = False
        connection.close()
        self._all.discard(connection)

    def close(self) -> None:
        if self._keepalive_timer is not None:
            self._keepalive_timer.cancel()
            self._keepalive_timer = None
        self._idle.clear()
        for connection in list(self._all):
            self.discard(connection)

    def _mark_lent(self, connection: PooledConnection, now: float) -> PooledConnection:
        connection.is_lent = True
        connection.incoming = asyncio.Queue()
        connection.used_at.append(now)
        return connection

    def _keep_idle_alive(self) -> None:
        loop = asyncio.get_running_loop()
        self._drop_stale(loop.time())
        if self.idle_message is not None:
            for connection, _ in self._idle:
                connection.send(self.idle_message)
        self._keepalive_timer = loop.call_later(self.idle_every_s, self._keep_idle_alive) if self._idle else None

    def _drop_stale(self, now: float) -> None:
        for entry in list(self._idle):
            connection, since = entry
            if not connection.is_open or now - since > MAX_IDLE_S:
                self._idle.remove(entry)
                self.discard(connection)
