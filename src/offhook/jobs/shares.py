"""Shares of the places that the jobs of strangers have in one worker, so that one organization cannot fill them."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

# An organization whose job was put off counts as waiting for this long; put-off jobs come back sooner.
WAITING_S: Final = 40.0
# A job that finds no place is tried again after this, later each time; a thousand of them must not keep the queue busy.
MIN_DELAY_S: Final = 1.0
MAX_DELAY_S: Final = 30.0


class OrganizationShares:
    """Counts the jobs of one kind that run in this process, by organization.

    No organization has more than ``each`` of the ``places``, or than an equal part of them while others want one. The
    last place is only for an organization that has none.
    """

    def __init__(self, places: int, each: int, clock: Callable[[], float] = time.monotonic) -> None:
        if not 0 < each < places:
            raise ValueError("one organization's share is smaller than all places")
        self._places = places
        self._each = each
        self._clock = clock
        self._running: Counter[int] = Counter()
        self._waiting: dict[int, float] = {}

    def begin(self, organization_id: int) -> bool:
        """Takes a place; False when the organization has to wait. Each place that was taken is returned by ``end``."""
        now = self._clock()
        self._waiting = {one: at for one, at in self._waiting.items() if now - at < WAITING_S}
        contenders = {*self._running, *self._waiting, organization_id}
        share = min(self._each, max(1, self._places // len(contenders)))
        own, taken = self._running[organization_id], self._running.total()
        last = self._places - 1 if own else self._places
        if own < share and taken < last:
            self._waiting.pop(organization_id, None)
            self._running[organization_id] += 1
            return True
        self._waiting[organization_id] = now
        return False

    def end(self, organization_id: int) -> None:
        self._running[organization_id] -= 1
        if not self._running[organization_id]:
            del self._running[organization_id]


def delay_after(tries: int) -> float:
    """Returns the seconds until a job that found no place ``tries`` times is tried again."""
    return min(MAX_DELAY_S, MIN_DELAY_S * 2.0 ** min(tries, 10))
