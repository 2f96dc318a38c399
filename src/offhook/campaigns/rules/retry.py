"""Decides if and when an unreached contact is called again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from offhook.campaigns.rules.outcomes import INTERRUPTED

MAX_DELAY: Final = timedelta(days=7)
# The phone did not ring: the carrier was unavailable, or never received the call.
NOT_PLACED: Final = "not_placed"
_NO_FAULT_OF_THE_CALLEE: Final = frozenset({NOT_PLACED, INTERRUPTED})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry settings. ``delays`` replaces ``delay_s`` by outcome; each retry waits ``backoff_factor`` times longer."""

    is_enabled: bool = True
    max_retries: int = 2
    delay_s: float = 300
    backoff_factor: float = 1.0
    outcomes: frozenset[str] = frozenset({"busy", "no_answer", "voicemail"})
    delays: Mapping[str, float] = field(default_factory=dict)


def retry_policy(stored: Mapping[str, Any]) -> RetryPolicy:
    """Reads ``campaigns.retry_config`` as stored, with defaults for missing values."""
    wanted = {
        outcome for outcome in ("busy", "no_answer", "voicemail") if stored.get(f"retry_on_{outcome}", True) is True
    }
    return RetryPolicy(
        is_enabled=bool(stored.get("enabled", True)),
        max_retries=int(stored.get("max_retries", 2)),
        delay_s=float(stored.get("retry_delay_seconds", 300)),
        backoff_factor=float(stored.get("backoff_factor", 1.0)),
        outcomes=frozenset(wanted),
        delays={str(name): float(seconds) for name, seconds in (stored.get("delays") or {}).items()},
    )


def retry_at(policy: RetryPolicy, outcome: str, dials: int, now: datetime) -> datetime | None:
    """Returns when to dial again after ``dials`` dials, the last of which ended in ``outcome``; None for no further dial.

    :data:`NOT_PLACED` and an interruption by us are always retried: neither was the callee's doing.
    """
    if not policy.is_enabled or dials > policy.max_retries:
        return None
    if outcome not in _NO_FAULT_OF_THE_CALLEE | policy.outcomes:
        return None
    delay_s = policy.delays.get(outcome, policy.delay_s) * policy.backoff_factor ** max(0, dials - 1)
    return now + min(timedelta(seconds=min(delay_s, MAX_DELAY.total_seconds())), MAX_DELAY)
