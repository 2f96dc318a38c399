"""Time that tests own: an event loop that never waits, and a wall clock that is set by hand."""

import asyncio
import ctypes
import heapq
import selectors
import socket
import struct
import time
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

_MAX_ON_ITS_WAY_S = 0.05
# struct tcp_info of linux/tcp.h: tcpi_bytes_received, and tcpi_bytes_sent since Linux 4.19
_OFFSET_OF_RECEIVED, _OFFSET_OF_SENT, _SIZE_OF_TCP_INFO = 128, 200, 256
_U64 = struct.Struct("=Q")
_LIBC = ctypes.CDLL(None)


class _NeverWaits(selectors.DefaultSelector):
    """Instead of sleeping until the next timer, moves the loop's clock to it."""

    loop: "VirtualTimeLoop"
    # how long what was sent may take to arrive, in real seconds: 0 where there are no sockets
    arrives_within: float = 0
    # whether somebody outside of the loop works for us: time stands still until they answer
    is_awaited: Callable[[], bool] = staticmethod(lambda: False)

    # sent and not received in a quiet moment: by sockets whose other end is gone
    _lost = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and self.arrives_within and timeout != 0:
            ready = self._wait_for_arrivals()
        if ready:
            return ready
        if timeout != 0 and self.is_awaited():
            return super().select(0.02)
        if timeout is None:
            # nothing is scheduled and nothing is ready: only a thread could wake us now
            return super().select(0.05)
        if timeout > 0:
            self.loop.advance(timeout)
        return []

    def _wait_for_arrivals(self) -> list[tuple[selectors.SelectorKey, int]]:
        # not select(arrives_within): its resolution is a millisecond
        time.sleep(self.arrives_within)
        ready = super().select(0)
        # on a busy machine the kernel takes its time to carry what was sent
        deadline = time.monotonic() + _MAX_ON_ITS_WAY_S
        while (
            not ready and (on_its_way := _bytes_on_their_way(key.fd for key in self.get_map().values())) != self._lost
        ):
            if time.monotonic() > deadline:
                self._lost = on_its_way
                break
            time.sleep(self.arrives_within)
            ready = super().select(0)
        return ready


def _bytes_on_their_way(sockets: Iterable[int]) -> int:
    """Returns what TCP sockets have sent and their other ends, which are among them, have not received."""
    total, info = 0, ctypes.create_string_buffer(_SIZE_OF_TCP_INFO)
    for fd in sockets:
        size = ctypes.c_uint32(_SIZE_OF_TCP_INFO)
        if _LIBC.getsockopt(fd, socket.IPPROTO_TCP, socket.TCP_INFO, info, ctypes.byref(size)) == 0:
            (received,) = _U64.unpack_from(info, _OFFSET_OF_RECEIVED)
            (sent,) = _U64.unpack_from(info, _OFFSET_OF_SENT)
            total += sent - received
    return total


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """``time()`` starts at 1000.0 and jumps from timer to timer: a minute of conversation takes milliseconds."""

    def __init__(self, arrives_within: float = 0, is_awaited: Callable[[], bool] | None = None) -> None:
        selector = _NeverWaits()
        selector.arrives_within = arrives_within
        if is_awaited is not None:
            selector.is_awaited = is_awaited
        self._virtual = 1000.0
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self._virtual

    def be_busy(self, seconds: float) -> None:
        """Time passes inside a callback: everything that is due meanwhile is late."""
        self._virtual += seconds

    def advance(self, seconds: float) -> None:
        # exactly to the next timer: adding a rounded timeout could stop a hair before it and spin
        scheduled = [handle for handle in self._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        target = heapq.nsmallest(1, (handle.when() for handle in scheduled))
        self._virtual = max(self._virtual, target[0]) if target else self._virtual + seconds


def run_virtual(
    main: Coroutine[Any, Any, T],
    *,
    limit_s: float = 3600.0,
    has_sockets: bool = False,
    is_awaited: Callable[[], bool] | None = None,
) -> T:
    """Run to the end on virtual time; TimeoutError when it takes longer than ``limit_s`` virtual seconds.

    ``has_sockets``: both ends of real sockets on loopback are in this loop; time waits for what is on its way.
    ``is_awaited``: whether a program, which works in real time, owes us an answer; time waits for that too.
    """
    factory = partial(VirtualTimeLoop, 0.0001 if has_sockets else 0, is_awaited)
    with asyncio.Runner(loop_factory=factory) as runner:

        async def bounded() -> T:
            async with asyncio.timeout(limit_s):
                return await main

        return runner.run(bounded())


class ShiftedClock:
    """Implements :class:`offhook.kit.clock.Clock`: the system's time, and what was added to it."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, *, minutes: float = 0, seconds: float = 0) -> None:
        self._ahead += timedelta(minutes=minutes, seconds=seconds)


class SetClock:
    """Implements :class:`offhook.kit.clock.Clock`."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
