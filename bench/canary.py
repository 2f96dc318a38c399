"""Roll-outs of canaries: how often and how soon a loss of 10 points is found, and how often a good version is rolled back.

    python -m bench.canary --rollouts 10000 --seed 1 --json

Each roll-out draws calls one after another, each for the new version with the probability of its share, and lets the product's own code decide after every
call. Each figure comes from two sets of roll-outs: in one the new version succeeds 10 points less often, in the other exactly as often as the old one. The default
setup is the share of 10 % at 80 % of success, with 10,000 earlier calls of the old version; `--all` adds other shares and rates, each with a tenth of the roll-outs; `--rails` also counts what guard rails do.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from offhook.canary.comparison.judge import (
    CallMeasures,
    CanaryJudge,
    CountedCall,
    Decision,
    JudgeSettings,
    Reason,
    decide_success,
)
from offhook.canary.comparison.pairs import CallPairs
from offhook.canary.comparison.success import SuccessEvidence

SETTINGS: Final = JudgeSettings()
# Before this many calls of both versions every roll-out has reached the horizon.
_MAX_CALLS: Final = 400_000


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    """``old`` is the old version's rate of success, ``share`` the part of calls that the new one takes, ``earlier`` how many
    calls of the old version there were before."""

    old: float = 0.8
    share: float = 0.1
    earlier: int = 0
    loss: float = 0.1


@dataclass(frozen=True, slots=True)
class RolloutEnd:
    """``new_calls`` and ``calls``: those of the new version, and of both, until the decision."""

    decision: Decision
    reason: Reason
    new_calls: int
    calls: int


@dataclass(frozen=True, slots=True)
class SetupFigures:
    """Shares of all roll-outs. ``found``: rolled back with the loss; ``false_back``: rolled back without one. Medians and
    the 99th percentile are of the calls until a loss was found."""

    setup: RolloutSetup
    rollouts: int
    found: float
    median_new_calls: float
    p99_new_calls: float
    median_calls: float
    false_back: float
    false_back_at_horizon: float
    forward_median_new_calls: float


def roll_out(setup: RolloutSetup, loss: float, seed: int) -> RolloutEnd:
    """One roll-out by success alone; the verdict of each call is that of :class:`CanaryJudge`."""
    draw = random.Random(seed).random
    # one draw for all of them: their number is far above what is used until a decision
    earlier = np.random.default_rng(seed).random(setup.earlier) < setup.old
    pairs, success = CallPairs[bool](earlier.tolist()), SuccessEvidence(SETTINGS.margin)
    new_calls = 0
    for calls in range(1, _MAX_CALLS):
        if draw() < setup.share:
            new_calls += 1
            pairs.add_new(draw() < setup.old - loss)
        else:
            pairs.add_old(draw() < setup.old)
        while (pair := pairs.take()) is not None:
            success.add_pair(*pair)
            decision, reason = decide_success(success, SETTINGS.horizon)
            if decision != "go_on":
                return RolloutEnd(decision, reason, new_calls, calls)
    raise AssertionError("a roll-out without an end")


def roll_out_with_rails(setup: RolloutSetup, loss: float, seed: int) -> RolloutEnd:
    """The same with all measures; lengths, times and costs have long tails, 2 % of calls break, 4 % complain."""
    random_ = random.Random(seed)
    judge = CanaryJudge(SETTINGS)
    new_calls = 0
    for calls, side in enumerate(_draw_sides(random_, setup), start=1):
        new_calls += side == "new"
        rate = setup.old - (loss if side == "new" else 0)
        measures = CallMeasures(
            is_success=random_.random() < rate,
            has_failed=random_.random() < 0.02,
            has_complained=random_.random() < 0.04,
            seconds=random_.lognormvariate(4.5, 0.8),
            answer_ms=random_.lognormvariate(6.7, 0.4),
            cost_cents=random_.lognormvariate(2, 1),
        )
        verdict = judge.add_call(CountedCall(side == "new", measures))
        if verdict.decision != "go_on":
            return RolloutEnd(verdict.decision, verdict.reason, new_calls, calls)
    raise AssertionError("a roll-out without an end")


def _draw_sides(random_: random.Random, setup: RolloutSetup) -> Iterator[str]:
    for _ in range(_MAX_CALLS):
        yield "new" if random_.random() < setup.share else "old"


def measure_setup(setup: RolloutSetup, rollouts: int, seed: int, *, with_rails: bool = False) -> SetupFigures:
    """Seeds are ``seed * 10^7`` and up; no seed is used twice within a setup."""
    play = roll_out_with_rails if with_rails else roll_out
    first = seed * 10_000_000
    worse = [play(setup, setup.loss, first + index) for index in range(rollouts)]
    equal = [play(setup, 0.0, first + 5_000_000 + index) for index in range(rollouts)]
    found = [end for end in worse if end.decision == "back"]
    wrong = [end for end in equal if end.decision == "back"]
    kept = [end.new_calls for end in equal if end.decision == "forward"]
    news = sorted(end.new_calls for end in found)
    return SetupFigures(
        setup=setup,
        rollouts=rollouts,
        found=len(found) / rollouts,
        median_new_calls=statistics.median(news),
        p99_new_calls=news[int(0.99 * (len(news) - 1))],
        median_calls=statistics.median(end.calls for end in found),
        false_back=len(wrong) / rollouts,
        false_back_at_horizon=sum(end.reason == "horizon" for end in wrong) / rollouts,
        forward_median_new_calls=statistics.median(kept),
    )


def list_setups() -> list[RolloutSetup]:
    """Returns the setups of ``--all`` beside the default one."""
    return [
        RolloutSetup(old=old, share=share, earlier=earlier)
        for old in (0.95, 0.9, 0.8, 0.7, 0.5)
        for share in (0.1, 0.5)
        for earlier in (0, 2_000, 10_000)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--old", type=float, default=0.8, help="the old version's rate of success")
    parser.add_argument("--share", type=float, default=0.1, help="the part of calls that the new version takes, to 0.5")
    parser.add_argument("--earlier", type=int, default=10_000, help="calls of the old version from before")
    parser.add_argument("--all", action="store_true", help="also other shares and rates, a tenth of the roll-outs each")
    parser.add_argument("--rails", action="store_true", help="with guard rails, a tenth of the roll-outs")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    first = RolloutSetup(old=asked.old, share=asked.share, earlier=asked.earlier)
    few = max(100, asked.rollouts // 10)
    started = time.perf_counter()
    figures = [measure_setup(first, few if asked.rails else asked.rollouts, asked.seed, with_rails=asked.rails)]
    figures += [measure_setup(setup, few, asked.seed) for setup in (list_setups() if asked.all else [])]
    if asked.json:
        seconds = round(time.perf_counter() - started, 1)
        print(json.dumps({"seed": asked.seed, "seconds": seconds, "setups": [asdict(one) for one in figures]}))
        return
    print("old  share earlier | found  median of new (p99)  of both | false back (horizon) | forward after")
    for one in figures:
        setup = one.setup
        print(
            f"{setup.old:4.2f} {setup.share:5.2f} {setup.earlier:7d} | {one.found:6.4f} {one.median_new_calls:7.0f}"
            f" ({one.p99_new_calls:.0f}) {one.median_calls:12.0f} | {one.false_back:6.4f} ({one.false_back_at_horizon:.4f})"
            f" | {one.forward_median_new_calls:.0f}"
        )


if __name__ == "__main__":
    main()
