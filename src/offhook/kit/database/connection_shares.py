"""How many connections of a process the transactions of one organization may use at once.

Transactions that set money aside wait for each other, organization by organization. Without a bound, one of many
conversations takes every connection of the process for that wait, and everybody else waits with it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.exc import TimeoutError as PoolTimeout

# Of the connections that a process has at a peak; see the pool's size in ``engine.py``.
MAX_OF_ONE_ORGANIZATION: Final = 6
# As the pool's own.
SHARE_TIMEOUT_S: Final = 30.0


@dataclass(slots=True)
class _Share:
    free: asyncio.Semaphore
    # who has a place or waits for one
    users: int = 0


@dataclass(slots=True, eq=False)
class _Place:
    organization_id: int
    is_taken: bool = True


# The places that this task, or the one that started it, has: nobody waits for itself. A task that goes on after the
# one that started it has no place any more.
_held: ContextVar[tuple[_Place, ...]] = ContextVar("offhook_connection_places", default=())


@dataclass(slots=True)
class ConnectionShares:
    """The shares of one pool. Who waits for a place has no connection."""

    limit: int = MAX_OF_ONE_ORGANIZATION
    _shares: dict[int, _Share] = field(default_factory=dict)

    @asynccontextmanager
    async def take(
        self, organization_id: int | None, *, timeout_s: float | None = SHARE_TIMEOUT_S
    ) -> AsyncIterator[None]:
        """Takes a place while the block runs; None: for no organization, without a limit. Raises the pool's
        TimeoutError when none is free in time."""
        before = _held.get()
        if organization_id is None or any(
            place.is_taken and place.organization_id == organization_id for place in before
        ):
            yield
            return
        share = self._shares.setdefault(organization_id, _Share(asyncio.Semaphore(self.limit)))
        share.users += 1
        try:
            await _acquire(share, timeout_s)
            place = _Place(organization_id)
            _held.set((*before, place))
            try:
                yield
            finally:
                place.is_taken = False
                _held.set(before)
                share.free.release()
        finally:
            share.users -= 1
            if not share.users:
                del self._shares[organization_id]


async def _acquire(share: _Share, timeout_s: float | None) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await share.free.acquire()
    except TimeoutError:
        raise PoolTimeout("No database connection became free for this organization in time.") from None
