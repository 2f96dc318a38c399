"""The circuit breaker: pauses a campaign when too many recent calls failed, before it uses up the list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FAILURES = frozenset({"failed"})


@dataclass(frozen=True, slots=True)
class BreakerConfig:
    is_enabled: bool = True
    failure_threshold: float = 0.5
    window_s: float = 120
    min_calls: int = 5


def parse_breaker_config(stored: Mapping[str, Any] | None) -> BreakerConfig:
    """Reads ``campaigns.circuit_breaker`` as stored."""
    stored = stored or {}
    return BreakerConfig(
        is_enabled=bool(stored.get("enabled", True)),
        failure_threshold=float(stored.get("failure_threshold", 0.5)),
        window_s=float(stored.get("window_seconds", 120)),
        min_calls=int(stored.get("min_calls_in_window", 5)),
    )


def trip_reason(config: BreakerConfig, outcomes: Sequence[str]) -> str | None:
    """Returns the reason for a pause when the calls that ended within the window (newest first) fail too often."""
    failed = sum(outcome in FAILURES for outcome in outcomes)
    if not config.is_enabled or len(outcomes) < config.min_calls or not failed:
        return None
    if failed / len(outcomes) < config.failure_threshold:
        return None
    return f"{failed} of the last {len(outcomes)} calls failed (within {config.window_s:.0f} s)."
