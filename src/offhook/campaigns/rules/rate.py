"""The dial rate of a carrier account: a token bucket whose state is one row, so that it holds across workers."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """A bucket with ``tokens`` at the time ``at``."""

    tokens: float
    at: datetime


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """The number of calls that may start; if fewer than requested, ``next_at`` is the time of the next one."""

    taken: int
    bucket: TokenBucket
    next_at: datetime | None


def take_tokens(
    bucket: TokenBucket | None, requested: int, *, per_second: float, burst: int, now: datetime
) -> TokenGrant:
    """Takes up to ``requested`` tokens. A clock that was set back neither adds nor takes tokens."""
    tokens = float(burst)
    if bucket is not None:
        elapsed_s = max(0.0, (now - bucket.at).total_seconds())
        tokens = min(float(burst), bucket.tokens + elapsed_s * per_second)
    taken = max(0, min(requested, int(tokens + 1e-9)))
    left = tokens - taken
    next_at = None if taken >= requested else now + timedelta(seconds=max(0.0, 1 - left) / per_second)
    return TokenGrant(taken, TokenBucket(left, now), next_at)
