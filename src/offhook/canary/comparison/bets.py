"""Evidence that grows by bets and stays valid no matter how often it is checked.

A bet multiplies what it has by ``1 + stake * gain``, where the gain is at most 1, not below -1.1, and not positive on
average as long as a claim is true ("the new version is not worse"). What a bet holds then has an expectation of at most
1 at every time, so that it ever reaches ``1 / a`` with a probability of at most ``a`` (Ville's inequality): looks after
every call need no correction, and the calls need no common distribution, only the claim. Stakes may depend on what was seen
before. Sources: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86
(2024); A. Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38 (2023);
for two streams of successes R. Turner, A. Ly and P. Grünwald, "Generic E-variables for exact sequential k-sample tests",
JSPI 230 (2024).
"""

import math
from functools import lru_cache
from typing import Final

# A stake of 1 could lose everything at once, and never come back.
_MAX_STAKE: Final = 0.95
_HALVINGS: Final = 30


class FixedBets:
    """Bets at several constant stakes at once, an equal part of 1 on each; what they hold is their mean.

    For a claim without a known size of its opposite: the best of the stakes costs at most its share, log(3).
    """

    _STAKES: Final = (0.125, 0.25, 0.5)

    def __init__(self) -> None:
        self._logs = [0.0] * len(self._STAKES)

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of what the bets hold."""
        highest = max(self._logs)
        return highest + math.log(sum(math.exp(one - highest) for one in self._logs) / len(self._logs))

    def add_gain(self, gain: float) -> None:
        """``gain``: at most 1, not below -1.1."""
        for place, stake in enumerate(self._STAKES):
            self._logs[place] += math.log1p(stake * gain)


@lru_cache(maxsize=4096)
def stake_on_loss(old_percent: int, loss: float, old_calls: int) -> float:
    """Returns the stake on ``old - new`` (the mean of ``old_calls`` calls minus one call) that grows fastest when the old
    version succeeds in ``old_percent`` of 100 calls and the new one in ``loss`` (0 to 1) less."""
    old = _rate(old_percent)
    return _fastest_stake(old, max(0.01, old - loss), old_calls, sign=-1, shift=0.0)


@lru_cache(maxsize=4096)
def stake_on_parity(old_percent: int, margin: float, old_calls: int) -> float:
    """Returns the stake on ``new - old + margin`` that grows fastest when both versions succeed equally often."""
    old = _rate(old_percent)
    return _fastest_stake(old, old, old_calls, sign=1, shift=margin)


def _rate(percent: int) -> float:
    return min(98, max(2, percent)) / 100


def _fastest_stake(old: float, new: float, old_calls: int, *, sign: int, shift: float) -> float:
    """Returns the stake with the highest expected logarithm, found by halving: its derivative falls."""
    gains: list[tuple[float, float]] = []
    for successes in range(old_calls + 1):
        chance = math.comb(old_calls, successes) * old**successes * (1 - old) ** (old_calls - successes)
        mean = successes / old_calls
        gains.append((chance * new, sign * (1 - mean) + shift))
        gains.append((chance * (1 - new), sign * (0 - mean) + shift))
    low, high = 0.0, _MAX_STAKE / (1 + shift)
    for _ in range(_HALVINGS):
        stake = (low + high) / 2
        if sum(chance * gain / (1 + stake * gain) for chance, gain in gains) > 0:
            low = stake
        else:
            high = stake
    return low
