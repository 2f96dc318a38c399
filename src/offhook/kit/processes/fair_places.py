"""Places for work that takes a core of this machine: organizations take turns, so that one cannot fill the line."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from offhook.errors import TooManyRequests

# What one organization may have waiting in one process.
MAX_WAITING: Final = 4
_RETRY: Final = {"Retry-After": "5"}
_BUSY_MESSAGE: Final = "Your organization already has several of these waiting. Try again in a few seconds."


class FairPlaces:
    """Hands out ``places``, one organization after the other, however much each has waiting.

    An organization has one place while others wait. Where there are several, the last one is only for an organization
    that has none. None is an owner too: the server itself.
    """

    def __init__(self, places: int, *, max_waiting: int = MAX_WAITING) -> None:
        self._places = places
        self._each = max(1, places - 1)
        self._max_waiting = max_waiting
        self._running: Counter[int | None] = Counter()
        # In the order of their turns.
        self._waiting: dict[int | None, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def take(self, owner: int | None) -> AsyncIterator[None]:
        """Takes a place while the block runs. Raises TooManyRequests (429) when too much of the owner's waits already;
        who is canceled leaves the line."""
        if self._may_begin(owner):
            self._running[owner] += 1
        else:
            self.require_room(owner)
            await self._wait(owner)
        try:
            yield
        finally:
            self._end(owner)

    def require_room(self, owner: int | None) -> None:
        """Raises TooManyRequests (429) when the owner can neither begin nor wait."""
        if not self._may_begin(owner) and len(self._waiting.get(owner, ())) >= self._max_waiting:
            raise TooManyRequests(_BUSY_MESSAGE, headers=_RETRY)

    async def _wait(self, owner: int | None) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._give_places()  # others may have waited only because this one did
            else:  # given at the same moment
                self._end(owner)
            raise

    def _end(self, owner: int | None) -> None:
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        if owner in self._waiting:  # its turn is over, also when it came to the line before the others
            self._waiting[owner] = self._waiting.pop(owner)
        self._give_places()

    def _give_places(self) -> None:
        for owner, line in list(self._waiting.items()):
            self._waiting[owner] = deque(place for place in line if not place.done())
            if not self._waiting[owner]:
                del self._waiting[owner]
        while turns := [owner for owner in self._waiting if self._may_begin(owner)]:
            owner = turns[0]
            line = self._waiting.pop(owner)
            line.popleft().set_result(None)
            self._running[owner] += 1
            if line:
                self._waiting[owner] = line

    def _may_begin(self, owner: int | None) -> bool:
        taken, own = self._running.total(), self._running[owner]
        if taken >= self._places or own >= self._each:
            return False
        return not own or not (self._waiting.keys() - {owner})
