"""Compares two versions on what must not get much worse: broken calls, complaints, length, answer time, cost.

Each rail tolerates a difference, so that a better version may cost a little more, and bets only on what is beyond it.
Lengths, times and costs are compared by their order: how often the new call's is above the old call's, plus the
tolerance, rather than below. A single call of three hours then weighs as much as one that is a second too long.
"""

from collections.abc import Sequence

from offhook.canary.comparison.bets import FixedBets


class RateRail:
    """Bets that something happens more often than before, by more than ``tolerance`` (0.05: 5 points)."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._bets = FixedBets()

    @property
    def log_evidence(self) -> float:
        return self._bets.log_evidence

    def add_pair(self, new: bool, old: Sequence[bool]) -> None:
        self._bets.add_gain(new - sum(old) / len(old) - self._tolerance)


class ValueRail:
    """Bets that a value is typically higher than before, by more than ``tolerance`` (0.2: 20 %); lower with ``is_low``."""

    def __init__(self, tolerance: float, *, is_low: bool = False) -> None:
        self._factor = 1 + tolerance
        self._is_low = is_low
        self._bets = FixedBets()

    @property
    def log_evidence(self) -> float:
        return self._bets.log_evidence

    def add_pair(self, new: float | None, old: Sequence[float | None]) -> None:
        """Adds what is known of both sides; a pair without a value on one of them is left out."""
        known = [value for value in old if value is not None]
        if new is None or not known:
            return
        self._bets.add_gain(sum(self._compare(new, value) for value in known) / len(known))

    def _compare(self, new: float, old: float) -> int:
        lower, higher = (new, old) if self._is_low else (old, new)
        limit = lower * self._factor
        return (higher > limit) - (higher < limit)
