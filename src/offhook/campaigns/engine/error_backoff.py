"""Whose handling raises, again and again: put off more and more, and after a few times the campaign is paused."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

# An error that heals, as a lock that two waited for, does not come so often in a row.
MOST_ERRORS: Final = 5
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 600.0
MOST_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Errors:
    count: int
    again_at: float


class Failing:
    """What this process saw fail; another one sees for itself. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._errors: dict[Hashable, _Errors] = {}

    def __len__(self) -> int:
        return len(self._errors)

    def is_put_off(self, what: Hashable, now: float) -> bool:
        found = self._errors.get(what)
        return found is not None and now < found.again_at

    def failed(self, what: Hashable, now: float) -> bool:
        """Note an error; whether it was one too many."""
        before = self._errors.get(what)
        count = before.count + 1 if before is not None else 1
        if len(self._errors) >= MOST_KEPT:
            self._errors.clear()
        self._errors[what] = _Errors(count, now + min(FIRST_PAUSE_S * 2**count, LONGEST_PAUSE_S))
        return count >= MOST_ERRORS

    def went_well(self, what: Hashable) -> None:
        self._errors.pop(what, None)
