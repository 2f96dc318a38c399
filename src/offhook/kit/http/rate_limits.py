"""Rate limits against guessing: a leaky bucket per key (an address, an account), in this process's memory.

In memory and not in the database on purpose: a row for each failure would let a stranger write to the database as
fast as they can fail. With N processes a limit is N times as high, which changes nothing for 256-bit tokens and
little for passwords, where each attempt also costs an argon2 hash.
"""

import math
from collections import OrderedDict
from ipaddress import IPv6Address, IPv6Network, ip_address

from offhook.errors import TooManyRequests
from offhook.kit.clock import Clock

IPV6_NETWORK_BITS = 64


def network_of(address: str | None) -> str:
    """Returns what one subscriber has, as the key of a limit: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed), IPV6_NETWORK_BITS), strict=False))
    return str(parsed)


class RateLimiter:
    """Allows at most ``limit`` attempts at once for a key, refilled evenly over ``window_s`` seconds.

    Keeps at most ``max_keys`` keys and forgets the least recently used, so that addresses cannot fill the memory.
    """

    def __init__(self, clock: Clock, *, limit: int, window_s: float, max_keys: int = 20_000) -> None:
        self._clock = clock
        self._limit = limit
        self._drain_per_s = limit / window_s
        self._max_keys = max_keys
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, key: str) -> None:
        """Spends an attempt before it is made, so that parallel guesses count. Raises :class:`TooManyRequests`."""
        level, now = self._current_level(key)
        if level + 1 > self._limit + 1e-9:
            wait_s = max(1, math.ceil((level + 1 - self._limit) / self._drain_per_s))
            raise TooManyRequests(headers={"Retry-After": str(wait_s)})
        self._store_level(key, level + 1, now)

    def refund(self, key: str) -> None:
        """Gives back an attempt that turned out to be legitimate."""
        level, now = self._current_level(key)
        self._store_level(key, max(0.0, level - 1), now)

    def reset(self, key: str) -> None:
        self._levels.pop(key, None)

    def _current_level(self, key: str) -> tuple[float, float]:
        now = self._clock.now().timestamp()
        level, at = self._levels.get(key, (0.0, now))
        return max(0.0, level - max(0.0, now - at) * self._drain_per_s), now

    def _store_level(self, key: str, level: float, now: float) -> None:
        self._levels[key] = (level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > self._max_keys:
            self._levels.popitem(last=False)
