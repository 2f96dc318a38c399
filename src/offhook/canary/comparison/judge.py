"""Reads the calls of both versions in their order, and decides."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from offhook.canary.comparison.guard_rails import RateRail, ValueRail
from offhook.canary.comparison.pairs import CallPairs
from offhook.canary.comparison.success import SuccessEvidence

Decision = Literal["back", "forward", "go_on"]
Reason = Literal[
    "less_success", "more_failures", "more_complaints", "slower_answers", "higher_cost", "longer_calls", "shorter_calls",
    "no_loss", "horizon", "not_enough_calls",
]  # fmt: skip

# A version that is not worse is rolled back by evidence with a probability of at most 1 %: nearly all of it by its success.
_FALSE_LOSS: Final = 0.0095
_FALSE_RAIL: Final = 0.0005
# A version that loses the margin is rolled forward with a probability of at most 0.5 %.
_FALSE_PARITY: Final = 0.005
# Nothing goes forward while a rail is in doubt: 1 in 20 by chance.
_LOG_DOUBT: Final = math.log(20)


@dataclass(frozen=True, slots=True)
class CallMeasures:
    """One finished call. ``seconds`` is its length; None: not measured."""

    is_success: bool
    has_failed: bool = False
    has_complained: bool = False
    seconds: float | None = None
    answer_ms: float | None = None
    cost_cents: float | None = None


@dataclass(frozen=True, slots=True)
class CountedCall:
    """A call while both versions take calls."""

    is_new: bool
    measures: CallMeasures


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """``margin`` is the loss of success to be found (0.1: 10 points), ``horizon`` the number of new calls after which it is
    decided in any case. Tolerances: points for failures and complaints, parts of the old value for the others."""

    margin: float = 0.10
    horizon: int = 2000
    rate_tolerance: float = 0.05
    answer_tolerance: float = 0.20
    cost_tolerance: float = 0.20
    length_tolerance: float = 0.50


@dataclass(frozen=True, slots=True)
class Verdict:
    """``evidence`` are chances of 1 in so many, by reason, of seeing this of a version that is not worse (``no_loss``: of one
    that loses the margin). ``difference`` is new minus old success over ``pairs``, -1 to 1."""

    decision: Decision
    reason: Reason
    pairs: int
    difference: float
    evidence: Mapping[Reason, float] = field(default_factory=dict)


class CanaryJudge:
    """Takes calls as they end. Its verdict after any of them is valid, whatever was looked at before. ``earlier``: calls of
    the old version from before, oldest first."""

    def __init__(self, settings: JudgeSettings, earlier: Sequence[CallMeasures] = ()) -> None:
        self._settings = settings
        self._pairs = CallPairs(earlier)
        self._success = SuccessEvidence(settings.margin)
        self._failures = RateRail(settings.rate_tolerance)
        self._complaints = RateRail(settings.rate_tolerance)
        self._answers = ValueRail(settings.answer_tolerance)
        self._cost = ValueRail(settings.cost_tolerance)
        self._longer = ValueRail(settings.length_tolerance)
        self._shorter = ValueRail(settings.length_tolerance, is_low=True)
        self._verdict = self._decide()

    @property
    def verdict(self) -> Verdict:
        return self._verdict

    def add_call(self, call: CountedCall) -> Verdict:
        """Adds a call and returns the verdict. The first decision stays: what comes after it is not counted."""
        if self._verdict.decision != "go_on":
            return self._verdict
        if call.is_new:
            self._pairs.add_new(call.measures)
        else:
            self._pairs.add_old(call.measures)
        while (pair := self._pairs.take()) is not None:
            self._add_pair(*pair)
            self._verdict = self._decide()
            if self._verdict.decision != "go_on":
                break
        return self._verdict

    def close(self) -> Verdict:
        """Decides as at the horizon, for a canary that gets no more calls."""
        decision = decide_at_horizon(self._success)
        return Verdict(decision, "horizon", self._verdict.pairs, self._verdict.difference, self._verdict.evidence)

    def _add_pair(self, new: CallMeasures, old: Sequence[CallMeasures]) -> None:
        self._success.add_pair(new.is_success, [one.is_success for one in old])
        self._failures.add_pair(new.has_failed, [one.has_failed for one in old])
        self._complaints.add_pair(new.has_complained, [one.has_complained for one in old])
        self._answers.add_pair(new.answer_ms, [one.answer_ms for one in old])
        self._cost.add_pair(new.cost_cents, [one.cost_cents for one in old])
        lengths = [one.seconds for one in old]
        self._longer.add_pair(new.seconds, lengths)
        self._shorter.add_pair(new.seconds, lengths)

    def _decide(self) -> Verdict:
        rails: dict[Reason, float] = {
            "more_failures": self._failures.log_evidence,
            "more_complaints": self._complaints.log_evidence,
            "slower_answers": self._answers.log_evidence,
            "higher_cost": self._cost.log_evidence,
            "longer_calls": self._longer.log_evidence,
            "shorter_calls": self._shorter.log_evidence,
        }
        success = self._success
        decision, reason = decide_success(success, self._settings.horizon)
        worst = max(rails, key=lambda one: rails[one])
        if rails[worst] >= math.log(len(rails) / _FALSE_RAIL):
            decision, reason = "back", worst if reason != "less_success" else reason
        elif reason == "no_loss" and rails[worst] >= _LOG_DOUBT:
            decision, reason = "go_on", "not_enough_calls"
        logs: dict[Reason, float] = {"less_success": success.log_loss, "no_loss": success.log_parity, **rails}
        shown = {name: math.exp(min(log, 700.0)) for name, log in logs.items()}
        return Verdict(decision, reason, success.pairs, success.mean_difference, shown)


def decide_success(success: SuccessEvidence, horizon: int) -> tuple[Decision, Reason]:
    """Decides by success alone."""
    if success.log_loss >= -math.log(_FALSE_LOSS):
        return "back", "less_success"
    if success.log_parity >= -math.log(_FALSE_PARITY):
        return "forward", "no_loss"
    if success.pairs >= horizon:
        return decide_at_horizon(success), "horizon"
    return "go_on", "not_enough_calls"


def decide_at_horizon(success: SuccessEvidence) -> Decision:
    """Decides by what the difference is nearer to: none, or the margin."""
    return "back" if success.mean_difference < -success.margin / 2 else "forward"
