"""The leaky bucket: so many at once, then a steady trickle, and no more memory than agreed."""

from datetime import UTC, datetime, timedelta

import pytest

from offhook.errors import TooManyRequests
from offhook.kit.http.rate_limits import RateLimiter


class StoppedClock:
    def __init__(self) -> None:
        self.at = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def test_limit_refill_and_retry_after() -> None:
    clock = StoppedClock()
    limiter = RateLimiter(clock, limit=3, window_s=30)
    for _ in range(3):
        limiter.spend("ada")
    with pytest.raises(TooManyRequests) as refused:
        limiter.spend("ada")
    assert refused.value.headers == {"Retry-After": "10"}
    limiter.spend("bob")
    clock.at += timedelta(seconds=9)
    with pytest.raises(TooManyRequests):
        limiter.spend("ada")
    clock.at += timedelta(seconds=1)
    limiter.spend("ada")


def test_refund_and_reset() -> None:
    limiter = RateLimiter(StoppedClock(), limit=1, window_s=60)
    limiter.spend("ada")
    limiter.refund("ada")
    limiter.spend("ada")
    limiter.reset("ada")
    limiter.spend("ada")
    with pytest.raises(TooManyRequests):
        limiter.spend("ada")


def test_a_clock_that_steps_back_gives_nothing_away() -> None:
    clock = StoppedClock()
    limiter = RateLimiter(clock, limit=1, window_s=60)
    limiter.spend("ada")
    clock.at -= timedelta(days=1)
    with pytest.raises(TooManyRequests):
        limiter.spend("ada")


def test_forgets_the_least_recent_key() -> None:
    limiter = RateLimiter(StoppedClock(), limit=1, window_s=60, max_keys=2)
    for key in ("a", "b", "c"):
        limiter.spend(key)
    limiter.spend("a")
    with pytest.raises(TooManyRequests):
        limiter.spend("c")
