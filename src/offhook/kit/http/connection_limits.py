"""Limits on incoming connections: how many there can be, and how long each can take to send its request."""

import asyncio
from asyncio import TimerHandle
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

import structlog

from offhook.kit.http.proxies import AddressSet
from offhook.kit.http.rate_limits import network_of
from offhook.settings import Settings

# Of a process: the database, LISTEN, the log, recordings on their way to a bucket, and what libraries open.
RESERVED_DESCRIPTORS: Final = 128
# Of a call besides its own socket: the recording, and sockets to the vendors of its models.
DESCRIPTORS_PER_CALL: Final = 5
# A body may begin late or stall for a moment: its rate counts after this.
BODY_GRACE_S: Final = 10.0
# A client that takes nothing of a response for this long is cut off.
STALLED_READER_S: Final = 30.0
MAX_CHECK_INTERVAL_S: Final = 1.0
WARN_INTERVAL_S: Final = 60.0
# Each takes 15 µs. Who opens thousands at once would hold up the frames of calls for as long as it takes to end them.
MAX_ENDED_TOGETHER: Final = 50
_THIS_MACHINE: Final = "127.0.0.0/8,::1"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one process.

    ``shared_addresses`` (addresses and networks, comma-separated) may stand for many clients and have no limit of their
    own: reverse proxies, and this machine, where one may run that nobody declared.
    """

    connections: int
    per_address: int
    header_bytes: int
    header_timeout_s: float
    body_timeout_s: float
    body_bytes_per_s: int
    body_grace_s: float = BODY_GRACE_S
    stalled_reader_s: float = STALLED_READER_S
    shared_addresses: str = _THIS_MACHINE

    @classmethod
    def from_settings(cls, settings: Settings, descriptors: int) -> "ConnectionLimits":
        """Returns the limits of a process that may open ``descriptors`` files and sockets."""
        return cls(
            connections=possible_connections(settings, descriptors),
            per_address=settings.connections_per_address,
            header_bytes=settings.max_header_bytes,
            header_timeout_s=settings.header_timeout_s,
            body_timeout_s=settings.body_timeout_s,
            body_bytes_per_s=settings.min_body_bytes_per_s,
            shared_addresses=",".join(filter(None, (_THIS_MACHINE, settings.trusted_proxies.strip()))),
        )


def possible_connections(settings: Settings, descriptors: int) -> int:
    """Returns how many connections a process may hold: the setting, or what its calls leave of its descriptors."""
    spare = descriptors - RESERVED_DESCRIPTORS - DESCRIPTORS_PER_CALL * settings.max_calls_per_process
    return min(settings.max_connections, max(spare, descriptors // 2))


class Wait(Enum):
    """What an unfinished connection waits for."""

    HEADERS = "headers"
    BODY = "body"
    REQUEST = "request"


class GuardedConnection(Protocol):
    """A connection as its guard sees it."""

    received_bytes: int
    """Bytes of the headers or of the body that is being read."""

    @property
    def is_reading_paused(self) -> bool:
        """Whether the server itself does not read at the moment."""
        ...

    def time_out(self) -> None:
        """Ends the connection, with an answer if one is possible."""
        ...

    def abort(self) -> None: ...


@dataclass(slots=True)
class _Clock:
    kind: Wait
    since: float
    body_s: float = 0.0


class ConnectionGuard:
    """Counts the connections of a process and ends those that are too slow.

    One timer looks at all connections that wait, at most once a second and only while there are any: a request that
    arrives whole costs two dictionary operations. When the process is full, the connection that has waited longest for a
    request makes room: whoever opens many holds up themselves, and a call still gets through.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.total = 0
        self._by_address: Counter[str] = Counter()
        self._shared = AddressSet(limits.shared_addresses)
        # in the order in which they began to wait
        self._waiting: dict[GuardedConnection, _Clock] = {}
        self._stalled: dict[GuardedConnection, float] = {}
        self._timer: TimerHandle | None = None
        self._interval_s = min(MAX_CHECK_INTERVAL_S, limits.header_timeout_s / 4, limits.body_timeout_s / 4)
        self._warned_at = -WARN_INTERVAL_S

    def admit(self, address: str | None) -> bool:
        """Counts a new connection; False when it has to be refused, and then it is not counted."""
        key = self._key_of(address)
        if key is not None and self._by_address[key] >= self.limits.per_address:
            self._warn("connections_of_an_address_refused", address=key)
            return False
        if self.total >= self.limits.connections and not self._make_room():
            self._warn("connections_refused", limit=self.limits.connections)
            return False
        self.total += 1
        if key is not None:
            self._by_address[key] += 1
        return True

    def release(self, address: str | None) -> None:
        """Uncounts a connection that ``admit`` let in."""
        self.total -= 1
        key = self._key_of(address)
        if key is not None:
            self._by_address[key] -= 1
            if not self._by_address[key]:
                del self._by_address[key]

    def begin_wait(self, connection: GuardedConnection, kind: Wait) -> None:
        """Starts the clock of a connection, unless it already runs for the same."""
        known = self._waiting.get(connection)
        if known is not None and known.kind is kind:
            return
        self._waiting.pop(connection, None)
        self._waiting[connection] = _Clock(kind, asyncio.get_running_loop().time())
        if kind is not Wait.REQUEST:
            self._ensure_timer()

    def end_wait(self, connection: GuardedConnection) -> None:
        self._waiting.pop(connection, None)

    def begin_stall(self, connection: GuardedConnection) -> None:
        """Starts the clock of a client that does not take what was sent."""
        self._stalled[connection] = asyncio.get_running_loop().time()
        self._ensure_timer()

    def end_stall(self, connection: GuardedConnection) -> None:
        self._stalled.pop(connection, None)

    def forget(self, connection: GuardedConnection) -> None:
        """Stops every clock of a connection."""
        self._waiting.pop(connection, None)
        self._stalled.pop(connection, None)

    def _key_of(self, address: str | None) -> str | None:
        return None if not address or address in self._shared else network_of(address)

    def _make_room(self) -> bool:
        oldest = next(iter(self._waiting), None)
        if oldest is None:
            return False
        self.forget(oldest)
        oldest.abort()
        return True

    def _ensure_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._interval_s, self._check_all)

    def _check_all(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        clocks = [item for item in self._waiting.items() if item[1].kind is not Wait.REQUEST]
        self._end_slow([item for item in clocks if self._is_too_slow(*item, now)])
        for connection, since in list(self._stalled.items()):
            if now - since > self.limits.stalled_reader_s:
                self.forget(connection)
                connection.abort()
        if clocks or self._stalled:
            self._ensure_timer()

    def _end_slow(self, slow: list[tuple[GuardedConnection, _Clock]]) -> None:
        for connection, clock in slow[:MAX_ENDED_TOGETHER]:
            if self._waiting.get(connection) is clock:
                self.forget(connection)
                connection.time_out()
        if left := slow[MAX_ENDED_TOGETHER:]:
            asyncio.get_running_loop().call_soon(self._end_slow, left)

    def _is_too_slow(self, connection: GuardedConnection, waiting: _Clock, now: float) -> bool:
        if waiting.kind is Wait.HEADERS:
            return now - waiting.since > self.limits.header_timeout_s
        # time in which we do not read is not the client's
        waiting.body_s += 0.0 if connection.is_reading_paused else self._interval_s
        if now - waiting.since > self.limits.body_timeout_s:
            return True
        expected = self.limits.body_bytes_per_s * (waiting.body_s - self.limits.body_grace_s)
        return connection.received_bytes < expected

    def _warn(self, event: str, **fields: object) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._warned_at >= WARN_INTERVAL_S:
            self._warned_at = now
            log.warning(event, **fields)
