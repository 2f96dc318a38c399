"""Answer times of many calls as counts by length, and percentiles from such counts. Pure."""

import bisect
import math
from collections.abc import Iterable, Mapping
from typing import Final

# Neighboring bounds differ by a tenth. A percentile is the harmonic mean of the bounds around it, which is at most
# 0.1 / 2.1 = 4.8 % from every value between them (DDSketch, Masson et al., VLDB 2019).
GROWTH: Final = 1.1
# The resolution of the measurement; what is shorter counts as no silence.
MIN_SILENCE_MS: Final = 10
# The highest bound is 64 seconds. Callers who wait longer have been spoken to by the watchdog.
_BOUND_COUNT: Final = 93
BOUNDS_MS: Final = tuple(MIN_SILENCE_MS * GROWTH**power for power in range(_BOUND_COUNT))
# The first one is below, the last one above all bounds.
BUCKETS: Final = _BOUND_COUNT + 1


def count_silences(silences_ms: Iterable[int]) -> list[int]:
    """Returns how many of these silences lie in each of the ``BUCKETS``."""
    counts = [0] * BUCKETS
    for silence_ms in silences_ms:
        counts[bisect.bisect_right(BOUNDS_MS, silence_ms)] += 1
    return counts


def estimate_percentile(counts: Mapping[int, int], share: float) -> int | None:
    """Returns the nearest-rank percentile in milliseconds from counts by bucket (from 0); None without any.

    At most 5 % (and the rounding to a millisecond) from that of the silences themselves between 10 ms and 64 s. Below
    it is 0, above it is 64 s.
    """
    rank = max(1, math.ceil(share * sum(counts.values())))
    reached = 0
    for bucket in sorted(counts):
        reached += counts[bucket]
        if reached >= rank:
            return round(_middle_of(bucket))
    return None


def _middle_of(bucket: int) -> float:
    if bucket == 0:
        return 0.0
    if bucket == BUCKETS - 1:
        return BOUNDS_MS[-1]
    low, high = BOUNDS_MS[bucket - 1], BOUNDS_MS[bucket]
    return 2 * low * high / (low + high)
