"""Compares how often two versions succeed."""

import math
from collections.abc import Sequence
from typing import Final

from offhook.canary.comparison.bets import stake_on_loss, stake_on_parity

# Stakes for a loss a little above the one to be found shorten the median and lengthen the tail (``bench.canary``).
_LOSS_FACTOR: Final = 1.1
# What the old version is taken for before it had calls: 8 successes of 10.
_ASSUMED_SUCCESSES: Final = 8
_ASSUMED_CALLS: Final = 10


class SuccessEvidence:
    """Two bets on pairs of one new call and some old ones.

    ``log_loss`` is the evidence against "the new version succeeds at least as often", ``log_parity`` the evidence against "it
    succeeds less often by ``margin`` or more" (natural logarithms). Both hold for rates that change with time, as long as
    they change for both versions.
    """

    def __init__(self, margin: float) -> None:
        self.margin = margin
        self._successes = _ASSUMED_SUCCESSES
        self._calls = _ASSUMED_CALLS
        self._differences = 0.0
        self.pairs = 0
        self.log_loss = 0.0
        self.log_parity = 0.0

    @property
    def mean_difference(self) -> float:
        """New minus old, -1 to 1, over the pairs."""
        return self._differences / self.pairs if self.pairs else 0.0

    def add_pair(self, new: bool, old: Sequence[bool]) -> None:
        successes, calls = sum(old), len(old)
        percent = round(100 * self._successes / self._calls)
        difference = new - successes / calls
        loss = stake_on_loss(percent, self.margin * _LOSS_FACTOR, calls)
        self.log_loss += math.log1p(-loss * difference)
        parity = stake_on_parity(percent, self.margin, calls)
        self.log_parity += math.log1p(parity * (difference + self.margin))
        self._successes += successes
        self._calls += calls
        self._differences += difference
        self.pairs += 1
