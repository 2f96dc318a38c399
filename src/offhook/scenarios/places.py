"""Places for work of a few seconds that organizations ask for, so that those who ask often do not lock others out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from offhook.errors import TooManyRequests


@dataclass(slots=True)
class _Line:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class OrganizationPlaces:
    """So many ``places`` in one process, at most one for each organization; the others wait for theirs in turn.

    Of the requests of one organization ``in_line`` may have the place or wait for it, and only the first of them waits
    beside other organizations.
    """

    def __init__(self, places: int, *, in_line: int = 1, wait_s: float, refusal: type[TooManyRequests]) -> None:
        self._places = asyncio.Semaphore(places)
        self._in_line = in_line
        self._wait_s = wait_s
        self._refusal = refusal
        self._lines: dict[int, _Line] = {}

    @asynccontextmanager
    async def hold(self, organization_id: int) -> AsyncIterator[float]:
        """Holds a place, and yields for how many seconds it waited. Raises the refusal (429) when the organization's line
        is full or the wait too long."""
        line = self._lines.setdefault(organization_id, _Line())
        if line.users >= self._in_line:
            raise self._refusal
        line.users += 1
        try:
            async with AsyncExitStack() as held:
                loop = asyncio.get_running_loop()
                began = loop.time()
                try:
                    async with asyncio.timeout(self._wait_s):
                        await held.enter_async_context(line.turn)
                        await held.enter_async_context(self._places)
                except TimeoutError:
                    raise self._refusal from None
                yield loop.time() - began
        finally:
            line.users -= 1
            if not line.users:
                del self._lines[organization_id]
