"""Bounds on the requests that are open at once to servers that organizations choose, by organization and by host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from offhook.tools.errors import ToolCallFailed

WAIT_S: Final = 5.0


class _Line:
    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self.users = 0


class RequestSlots:
    """Lets an organization have so many requests open in this process, and all together so many to one host.

    Who finds no place waits in line, ``wait_s`` seconds in all. One organization has fewer places than a host, so that it
    cannot fill those of a server that others use.
    """

    def __init__(self, *, per_organization: int, per_host: int, wait_s: float = WAIT_S) -> None:
        self._per_organization = min(per_organization, max(1, per_host - 1))
        self._per_host = per_host
        self._wait_s = wait_s
        self._lines: dict[int | str, _Line] = {}

    @asynccontextmanager
    async def hold(self, organization_id: int, url: str) -> AsyncIterator[None]:
        """Holds a place for one request. Raises ToolCallFailed, which may be retried, when the wait is too long."""
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""  # the client refuses the address with its own words
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._wait_s):
                    await held.enter_async_context(self._enter(organization_id, self._per_organization))
                    await held.enter_async_context(self._enter(host, self._per_host))
            except TimeoutError:
                raise ToolCallFailed(
                    f"Too many requests to {host[:80]!r}, or from this organization, are open. Try again later.",
                    retryable=True,
                ) from None
            yield

    @asynccontextmanager
    async def _enter(self, key: int | str, places: int) -> AsyncIterator[None]:
        line = self._lines.setdefault(key, _Line(places))
        line.users += 1
        try:
            async with line.places:
                yield
        finally:
            line.users -= 1
            if not line.users:
                del self._lines[key]
