"""Backs off from items whose handling keeps raising; after a few errors their campaign is paused."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

# A transient error, such as a deadlock, does not repeat this often in a row.
MAX_CONSECUTIVE_ERRORS: Final = 5
INITIAL_BACKOFF_S: Final = 1.0
MAX_BACKOFF_S: Final = 600.0
MAX_TRACKED_KEYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class _FailureCount:
    count: int
    again_at: float


class ErrorBackoff:
    """Failures seen by this process. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._errors: dict[Hashable, _FailureCount] = {}

    def __len__(self) -> int:
        return len(self._errors)

    def is_backing_off(self, what: Hashable, now: float) -> bool:
        found = self._errors.get(what)
        return found is not None and now < found.again_at

    def record_failure(self, what: Hashable, now: float) -> bool:
        """Records an error; returns True when it was one too many."""
        before = self._errors.get(what)
        count = before.count + 1 if before is not None else 1
        if len(self._errors) >= MAX_TRACKED_KEYS:
            self._errors.clear()
        self._errors[what] = _FailureCount(count, now + min(INITIAL_BACKOFF_S * 2**count, MAX_BACKOFF_S))
        return count >= MAX_CONSECUTIVE_ERRORS

    def clear(self, what: Hashable) -> None:
        self._errors.pop(what, None)
