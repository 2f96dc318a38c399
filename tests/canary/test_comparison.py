"""The statistics of canaries: what is found, how soon, and how rarely by chance."""

import itertools
import math
import random
from dataclasses import replace

import pytest
from bench.canary import RolloutSetup, measure_setup, roll_out

from offhook.canary.comparison.bets import FixedBets, stake_on_loss, stake_on_parity
from offhook.canary.comparison.guard_rails import ValueRail
from offhook.canary.comparison.judge import CallMeasures, CanaryJudge, CountedCall, JudgeSettings, Verdict
from offhook.canary.comparison.pairs import CallPairs

GOOD = CallMeasures(is_success=True, seconds=60, answer_ms=800, cost_cents=10)


def judge_calls(
    seed: int, calls: int, *, new: CallMeasures = GOOD, new_rate: float = 0.9, settings: JudgeSettings | None = None
) -> Verdict:
    """Half of the calls are the new version's; of the old one's 90 % succeed. Others are as ``GOOD``."""
    draw = random.Random(seed)
    judge = CanaryJudge(settings or JudgeSettings())
    for _ in range(calls):
        is_new = draw.random() < 0.5
        made = new if is_new else GOOD
        rate = new_rate if is_new else 0.9
        judge.add_call(CountedCall(is_new, replace(made, is_success=draw.random() < rate)))
    return judge.verdict


class TestBets:
    @pytest.mark.parametrize(("old", "old_calls"), [(0.5, 1), (0.8, 7), (0.95, 40)])
    def test_nothing_is_won_on_average_by_a_version_that_is_as_good(self, old: float, old_calls: int) -> None:
        """The expectation of every bet, by all outcomes of a pair, is at most 1 if the claim holds."""
        percent = round(100 * old)
        for new, margin, is_loss in ((old, 0.0, True), (min(1, old + 0.05), 0.0, True), (old - 0.1, 0.1, False)):
            stake = stake_on_loss(percent, 0.11, old_calls) if is_loss else stake_on_parity(percent, 0.1, old_calls)
            sign = -1 if is_loss else 1
            mean = 0.0
            for successes, outcome in itertools.product(range(old_calls + 1), (0, 1)):
                chance = math.comb(old_calls, successes) * old**successes * (1 - old) ** (old_calls - successes)
                gain = sign * (outcome - successes / old_calls) + margin
                assert 1 + stake * gain > 0
                mean += chance * (new if outcome else 1 - new) * (1 + stake * gain)
            assert mean <= 1 + 1e-9

    def test_fixed_bets_never_lose_everything(self) -> None:
        bets = FixedBets()
        for _ in range(1000):
            bets.add_gain(-1.05)
        assert math.isfinite(bets.log_evidence)
        assert bets.log_evidence < 0

    def test_order_and_not_size_counts_for_lengths_and_costs(self) -> None:
        long, short = ValueRail(0.5), ValueRail(0.5)
        for _ in range(50):
            long.add_pair(1e9, [60.0])
            short.add_pair(91.0, [60.0, None])
            short.add_pair(None, [60.0])
        assert long.log_evidence == short.log_evidence > math.log(100)


class TestPairs:
    def test_every_old_call_is_used_once_and_the_newest_first(self) -> None:
        pairs = CallPairs(["e1", "e2", "e3"])
        assert pairs.take() is None
        pairs.add_new("n1")
        assert pairs.take() == ("n1", ["e3"])
        for name in ("o1", "o2", "o3"):
            pairs.add_old(name)
        pairs.add_new("n2")
        # as many as there were for each new call so far, a fifth fewer
        assert pairs.take() == ("n2", ["o3", "e2"])
        pairs.add_new("n3")
        assert pairs.take() == ("n3", ["e1"])
        pairs.add_new("n4")
        assert pairs.take() == ("n4", ["o2"])
        pairs.add_new("n5")
        assert pairs.take() == ("n5", ["o1"])
        pairs.add_new("n6")
        assert pairs.take() is None


class TestJudge:
    def test_a_loss_is_found_and_said(self) -> None:
        verdict = judge_calls(1, 2000, new_rate=0.7)
        assert (verdict.decision, verdict.reason) == ("back", "less_success")
        assert verdict.difference < -0.05
        assert verdict.evidence["less_success"] >= 1 / 0.0095

    def test_a_version_that_is_as_good_goes_forward(self) -> None:
        verdict = judge_calls(2, 2000)
        assert (verdict.decision, verdict.reason) == ("forward", "no_loss")

    @pytest.mark.parametrize(
        ("new", "reason"),
        [
            (replace(GOOD, has_failed=True), "more_failures"),
            (replace(GOOD, has_complained=True), "more_complaints"),
            (replace(GOOD, answer_ms=1200), "slower_answers"),
            (replace(GOOD, cost_cents=20), "higher_cost"),
            (replace(GOOD, seconds=200), "longer_calls"),
            (replace(GOOD, seconds=20), "shorter_calls"),
        ],
    )
    def test_what_gets_worse_beside_success_rolls_back(self, new: CallMeasures, reason: str) -> None:
        verdict = judge_calls(3, 400, new=new)
        assert (verdict.decision, verdict.reason) == ("back", reason)

    def test_the_horizon_decides_by_the_nearer_of_the_two(self) -> None:
        early = JudgeSettings(horizon=20)
        decisions = {judge_calls(seed, 200, new_rate=0.75, settings=early).reason for seed in range(20)}
        assert "horizon" in decisions
        verdict = judge_calls(4, 200, settings=early)
        assert (verdict.decision, verdict.reason) == ("forward", "horizon")

    def test_what_comes_after_the_decision_is_not_counted(self) -> None:
        judge = CanaryJudge(JudgeSettings(horizon=1))
        judge.add_call(CountedCall(False, GOOD))
        decided = judge.add_call(CountedCall(True, GOOD))
        assert decided.decision == "forward"
        judge.add_call(CountedCall(False, GOOD))
        assert judge.add_call(CountedCall(True, replace(GOOD, has_failed=True))) is decided


class TestRollouts:
    def test_the_same_seed_is_the_same_roll_out(self) -> None:
        setup = RolloutSetup(old=0.9, earlier=0)
        assert roll_out(setup, 0.1, 7) == roll_out(setup, 0.1, 7)

    @pytest.mark.slow
    def test_a_loss_of_ten_points_is_found_and_none_is_made_up(self) -> None:
        """A small part of what ``bench.canary`` counts, with room for chance."""
        figures = measure_setup(RolloutSetup(old=0.9, share=0.1, earlier=0), 300, 5)
        assert figures.found >= 0.97
        assert figures.false_back <= 0.025
        assert figures.median_new_calls <= 150
