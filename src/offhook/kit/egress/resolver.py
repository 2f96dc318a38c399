"""Looks up host names that users entered, so that a name server that does not answer holds up no other name.

A lookup blocks its thread for as long as the system's resolver has patience, 10 s or more, whatever its caller's time limit.
The event loop has a few threads for all of them: a handful of such names stopped every new connection of the process.
"""

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from offhook.kit.tasks import SharedWork

# A waiting thread costs little.
MAX_LOOKUPS: Final = 128
# Of names below the same two labels, which mostly have the same name servers.
MAX_LOOKUPS_OF_ZONE: Final = 8
# After this time a name that was found before leads where it led then.
PATIENCE_S: Final = 1.0
KNOWN_S: Final = 3600.0
MAX_KNOWN: Final = 1000
_Name = tuple[str, int]
Lookup = Callable[..., Sequence[tuple[Any, ...]]]


class HostResolver(Protocol):
    """Resolves host names."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Returns addresses as text, best first. Raises OSError when there are none."""
        ...


class SystemHostResolver:
    """The machine's own resolver, ``lookup``, in threads of our own. One event loop uses it."""

    def __init__(self, lookup: Lookup = socket.getaddrinfo, *, patience_s: float = PATIENCE_S) -> None:
        self._lookup = lookup
        self._patience_s = patience_s
        self._shared: SharedWork[_Name, list[str]] = SharedWork()
        self._places = asyncio.Semaphore(MAX_LOOKUPS)
        self._zones: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._known: OrderedDict[_Name, tuple[float, list[str]]] = OrderedDict()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Implements :class:`HostResolver`. Callers limit the time: a name that was never found is waited for."""
        known = self._find_known((host, port))
        try:
            async with asyncio.timeout(None if known is None else self._patience_s):
                return await self._shared.join((host, port), partial(self._look_up, host, port))
        except (TimeoutError, socket.gaierror) as error:
            is_away = isinstance(error, TimeoutError) or error.errno == socket.EAI_AGAIN
            if known is None or not is_away:
                raise
            return known

    def _find_known(self, name: _Name) -> list[str] | None:
        found = self._known.get(name)
        return found[1] if found is not None and time.monotonic() - found[0] < KNOWN_S else None

    async def _look_up(self, host: str, port: int) -> list[str]:
        zone = self._zones.setdefault(".".join(host.split(".")[-2:]), asyncio.Semaphore(MAX_LOOKUPS_OF_ZONE))
        await zone.acquire()
        try:
            await self._places.acquire()
        except BaseException:
            zone.release()
            raise
        found = await self._run_in_thread(host, port, zone)
        self._known[host, port] = (time.monotonic(), found)
        self._known.move_to_end((host, port))
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return found

    def _run_in_thread(self, host: str, port: int, zone: asyncio.Semaphore) -> "asyncio.Future[list[str]]":
        """Gives the places back when the thread ends, not when its caller does."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[str]] = loop.create_future()

        def finish(found: list[str], error: Exception | None) -> None:
            zone.release()
            self._places.release()
            if future.done():
                return
            if error is None:
                future.set_result(found)
            else:
                future.set_exception(error)

        def look_up() -> None:
            found, failure = list[str](), None
            try:
                entries = self._lookup(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
                found = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
            except Exception as error:  # noqa: BLE001 - passed to the caller, who raises it
                failure = error
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(finish, found, failure)

        # not of a pool, whose threads are waited for when the process ends
        try:
            threading.Thread(target=look_up, name="name-lookup", daemon=True).start()
        except RuntimeError as error:
            finish([], OSError(f"no thread for a name lookup: {error}"))
        return future
