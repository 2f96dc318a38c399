"""Sets one call of the new version against calls of the old one, each of which is used once."""

from collections import deque
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

# More of them hardly help: the new call's own chance is then nearly all of the noise.
MAX_OLD_CALLS: Final = 40
# Earlier calls last for this many calls of the new version.
_EARLIER_LASTS: Final = 400
# Of the old version's calls for each of the new one: with all of them, a call of the new version would wait for long.
_USED_SHARE: Final = 0.8

T = TypeVar("T")


class CallPairs(Generic[T]):
    """Forms pairs of one new call and some old ones, as they come.

    How many old ones follows from how many calls there were, and which ones from their order: the newest first. Neither
    depends on how a call went, or the bets on it would not be fair. Earlier calls (from before the new version took any,
    oldest first) come on top. A new call waits while there are not enough.
    """

    def __init__(self, earlier: Sequence[T] = ()) -> None:
        self._earlier = list(earlier)
        self._old: list[T] = []
        self._new: deque[T] = deque()
        self._old_count = 0
        self._new_count = 0
        self._from_earlier = -(-len(self._earlier) // _EARLIER_LASTS)

    def add_old(self, call: T) -> None:
        self._old.append(call)
        self._old_count += 1

    def add_new(self, call: T) -> None:
        self._new.append(call)
        self._new_count += 1

    def take(self) -> tuple[T, list[T]] | None:
        """Returns the next pair, if there is one."""
        if not self._new:
            return None
        earlier = min(self._from_earlier, len(self._earlier))
        wanted = min(int(_USED_SHARE * self._old_count / self._new_count), MAX_OLD_CALLS)
        if not earlier:
            wanted = max(1, wanted)
        if len(self._old) < wanted:
            return None
        earlier = min(earlier, MAX_OLD_CALLS - wanted)
        taken = _pop_newest(self._old, wanted) + _pop_newest(self._earlier, earlier)
        return self._new.popleft(), taken


def _pop_newest(calls: list[T], count: int) -> list[T]:
    if not count:
        return []
    newest = calls[-count:]
    del calls[-count:]
    return newest
