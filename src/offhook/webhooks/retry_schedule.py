"""When a failed delivery is retried, and when it is given up. Pure."""

import random
from datetime import timedelta
from typing import Final

# 5 s to 8 h: eleven attempts in 24 hours.
DELAYS_S: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_500)
_JITTER: Final = 0.1
# An endpoint without a successful delivery for this long is switched off: three days bridge a weekend.
SWITCH_OFF_AFTER: Final = timedelta(hours=72)
_MAX_RETRY_AFTER_S: Final = 3600


def next_delay_s(attempts: int, *, requested_s: float | None = None) -> float | None:
    """Returns the seconds until the next attempt after ``attempts`` failed ones; None when there is none.

    ``requested_s`` is the endpoint's ``Retry-After``, which may lengthen the pause up to an hour. Jitter keeps a
    thousand deliveries that failed together from retrying together.
    """
    if attempts > len(DELAYS_S):
        return None
    delay_s = DELAYS_S[attempts - 1] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not a secret
    return max(delay_s, min(requested_s or 0.0, _MAX_RETRY_AFTER_S))
