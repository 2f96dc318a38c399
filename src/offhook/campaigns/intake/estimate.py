"""Estimates what a campaign will take: calls with retries, time and money, from the agent's latest calls. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from offhook.campaigns.rules.outcomes import outcome_of_run
from offhook.campaigns.rules.retry import MAX_DELAY, RetryPolicy

# Ringing until the callee answers or the call is given up.
RINGING_S: Final = 10.0
UNANSWERED_S: Final = 30.0
# For agents with few calls: a typical call, and how many calls of a list reach nobody.
TALKING_S: Final = 60.0
UNREACHED_SHARE: Final = 0.4
MIN_CALLS: Final = 20
_UNREACHED: Final = frozenset({"busy", "no_answer", "voicemail"})


@dataclass(frozen=True, slots=True)
class PastCalls:
    """A group of an agent's latest outbound calls. ``talked_s`` and ``cost_cents`` are sums."""

    status: str
    outcome: str | None
    calls: int
    talked_s: float
    cost_cents: int


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """Per contact: ``calls`` with retries and ``line_s`` that they keep a line busy; per call ``cost_cents``, None when
    nothing is known. ``retry_wait_s``: how long after its first call the last contact is done."""

    calls: float
    line_s: float
    cost_cents: Decimal | None
    retry_wait_s: float
    is_known: bool


def estimate_calls(past: Sequence[PastCalls], retry: RetryPolicy, contacts: int) -> CallEstimate:
    """Returns what calls of the agent have been like, applied to these retries."""
    total = sum(group.calls for group in past)
    is_known = total >= MIN_CALLS
    by_outcome: dict[str, int] = {}
    for group in past:
        outcome = outcome_of_run(group.status, group.outcome)
        by_outcome[outcome] = by_outcome.get(outcome, 0) + group.calls
    unreached = sum(by_outcome.get(one, 0) for one in _UNREACHED) / total if is_known else UNREACHED_SHARE
    repeated = _share_retried(by_outcome, total if is_known else 0, retry)
    depth = retry.max_retries if retry.is_enabled else 0
    rounds = [repeated**number for number in range(depth + 1)]
    talked = [group for group in past if group.talked_s > 0]
    talks = sum(group.calls for group in talked)
    talking_s = sum(group.talked_s for group in talked) / talks if talks else TALKING_S
    per_call_s = (1 - unreached) * (RINGING_S + talking_s) + unreached * UNANSWERED_S
    cost = Decimal(sum(group.cost_cents for group in past)) / total if total else None
    reached_rounds = sum(1 for share in rounds[1:] if contacts * share >= 1)
    wait_s = sum(
        min(retry.delay_s * retry.backoff_factor**number, MAX_DELAY.total_seconds()) for number in range(reached_rounds)
    )
    return CallEstimate(sum(rounds), sum(rounds) * per_call_s, cost, wait_s, is_known)


def _share_retried(by_outcome: dict[str, int], total: int, retry: RetryPolicy) -> float:
    """Returns how many of the calls are called again, as long as there are retries left."""
    if not retry.is_enabled:
        return 0.0
    if not total:
        return UNREACHED_SHARE * len(retry.outcomes & _UNREACHED) / len(_UNREACHED)
    return sum(by_outcome.get(outcome, 0) for outcome in retry.outcomes) / total
