"""The other rules of dialing, each by itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.campaigns.rules import outcomes, retry, voicemail
from offhook.campaigns.rules.breaker import BreakerConfig, parse_breaker_config, trip_reason
from offhook.campaigns.rules.destinations import check_destination, parse_destinations
from offhook.campaigns.rules.rate import TokenBucket, take_tokens
from offhook.campaigns.rules.slots import SlotDemand, effective_cap, share_slots
from offhook.runs.states import FINAL_STATES

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


class TestRetry:
    def test_the_defaults_are_two_retries_after_five_minutes(self) -> None:
        policy = retry.retry_policy({})
        assert retry.retry_at(policy, "busy", 1, NOW) == NOW + timedelta(minutes=5)
        assert retry.retry_at(policy, "no_answer", 2, NOW) == NOW + timedelta(minutes=5)
        assert retry.retry_at(policy, "voicemail", 3, NOW) is None

    @pytest.mark.parametrize("outcome", ["answered", "failed", "canceled", "do_not_call", "invalid_number"])
    def test_these_are_never_called_again(self, outcome: str) -> None:
        assert retry.retry_at(retry.retry_policy({}), outcome, 1, NOW) is None

    @pytest.mark.parametrize("outcome", ["busy", "no_answer", "voicemail"])
    def test_an_outcome_can_be_left_out(self, outcome: str) -> None:
        policy = retry.retry_policy({f"retry_on_{outcome}": False})
        assert retry.retry_at(policy, outcome, 1, NOW) is None

    def test_switched_off_nothing_is_called_again(self) -> None:
        assert retry.retry_at(retry.retry_policy({"enabled": False}), "busy", 1, NOW) is None
        assert retry.retry_at(retry.retry_policy({"max_retries": 0}), "busy", 1, NOW) is None

    def test_a_call_that_was_not_placed_is_tried_again(self) -> None:
        policy = retry.retry_policy({"retry_on_busy": False, "retry_on_no_answer": False, "retry_on_voicemail": False})
        assert retry.retry_at(policy, retry.NOT_PLACED, 1, NOW) is not None

    def test_back_off_and_a_delay_for_one_outcome(self) -> None:
        policy = retry.retry_policy({"max_retries": 9, "backoff_factor": 2, "delays": {"no_answer": 3600}})
        assert retry.retry_at(policy, "busy", 3, NOW) == NOW + timedelta(seconds=1200)
        assert retry.retry_at(policy, "no_answer", 1, NOW) == NOW + timedelta(hours=1)
        assert retry.retry_at(policy, "no_answer", 9, NOW) == NOW + retry.MAX_DELAY


class TestSlots:
    def test_the_smallest_of_the_three_counts(self) -> None:
        assert effective_cap(20, 10, None) == 10
        assert effective_cap(20, 10, 3) == 3
        assert effective_cap(2, 10, 3) == 2

    def test_campaigns_of_one_account_share_its_numbers(self) -> None:
        demands = [SlotDemand(1, 0, 9, 25, "a"), SlotDemand(2, 0, 9, 25, "a"), SlotDemand(3, 0, 9, 25, "b")]
        assert share_slots(20, demands, {"a": 3}) == {1: 2, 2: 1, 3: 9}
        assert share_slots(20, demands, {"a": 0, "b": 1}) == {1: 0, 2: 0, 3: 1}

    def test_a_small_campaign_does_not_wait_behind_a_big_one(self) -> None:
        given_slots = share_slots(
            4, [SlotDemand(1, live=8, cap=100, wanted=100), SlotDemand(2, live=0, cap=100, wanted=3)]
        )
        assert given_slots == {1: 1, 2: 3}

    @given(
        free=st.integers(0, 30),
        asked=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(0, 20)), max_size=5),
    )
    def test_never_more_than_is_free_wanted_or_allowed(self, free: int, asked: list[tuple[int, int, int]]) -> None:
        demands = [SlotDemand(index, live, cap, wanted) for index, (live, cap, wanted) in enumerate(asked)]
        given_slots = share_slots(free, demands)
        most = [max(0, min(d.wanted, d.cap - d.live)) for d in demands]
        assert all(given_slots[d.campaign_id] <= most[i] for i, d in enumerate(demands))
        assert sum(given_slots.values()) == min(free, sum(most))


class TestRate:
    def test_a_full_bucket_gives_its_burst_and_then_says_when(self) -> None:
        grant = take_tokens(None, 5, per_second=2, burst=2, now=NOW)
        assert (grant.taken, grant.next_at) == (2, NOW + timedelta(seconds=0.5))

    def test_a_clock_that_was_set_back_gives_nothing_away(self) -> None:
        grant = take_tokens(TokenBucket(0.0, NOW), 1, per_second=1, burst=1, now=NOW - timedelta(hours=1))
        assert grant.taken == 0

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3000)), max_size=40))
    def test_never_faster_than_the_rate_and_its_burst(self, asked: list[tuple[int, int]]) -> None:
        bucket: TokenBucket | None = None
        now, taken = NOW, 0
        for wanted, wait_ms in asked:
            grant = take_tokens(bucket, wanted, per_second=3, burst=3, now=now)
            bucket, taken = grant.bucket, taken + grant.taken
            assert taken <= 3 + 3 * (now - NOW).total_seconds() + 1e-6
            now += timedelta(milliseconds=wait_ms)


class TestBreaker:
    CONFIG = BreakerConfig(min_calls=4)

    def test_it_needs_enough_calls(self) -> None:
        assert trip_reason(self.CONFIG, ["failed"] * 3) is None
        assert trip_reason(self.CONFIG, ["failed"] * 4) == "4 of the last 4 calls failed (within 120 s)."

    def test_it_trips_at_the_threshold(self) -> None:
        assert trip_reason(self.CONFIG, ["failed", "busy", "answered", "failed"]) is not None
        assert trip_reason(self.CONFIG, ["failed", "busy", "answered", "answered", "busy"]) is None

    def test_busy_and_silent_phones_are_no_failures(self) -> None:
        assert trip_reason(self.CONFIG, ["busy", "no_answer", "voicemail", "canceled"] * 3) is None

    def test_it_can_be_switched_off(self) -> None:
        assert trip_reason(parse_breaker_config({"enabled": False}), ["failed"] * 50) is None


class TestDestinations:
    @pytest.mark.parametrize("number", ["", "+1", "4915112345678", "+0123456789", "+49 151 12345678", "hello"])
    def test_what_is_no_number_is_invalid(self, number: str) -> None:
        assert check_destination(parse_destinations(None), number).refusal == "invalid_number"

    def test_premium_numbers_are_blocked_unless_wished_for(self) -> None:
        assert check_destination(parse_destinations(None), "+19005550123").refusal == "destination_blocked"
        assert check_destination(parse_destinations({"allow_premium": True}), "+19005550123").refusal is None

    def test_only_the_countries_that_are_named(self) -> None:
        german = parse_destinations({"countries": ["DE"]})
        assert check_destination(german, "+4915112345678").refusal is None
        assert check_destination(german, "+14155552671").refusal == "destination_blocked"

    def test_it_knows_where_a_number_may_be(self) -> None:
        assert check_destination(parse_destinations(None), "+14155552671").zones == ("America/Los_Angeles",)


class TestOutcomes:
    @pytest.mark.parametrize("end_reason", ["worker_lost", "server_stopped"])
    def test_a_callee_whom_we_cut_off_is_called_again(self, end_reason: str) -> None:
        ended = outcomes.outcome_of_run("completed", "answered", end_reason)
        assert ended == outcomes.INTERRUPTED
        assert ended in outcomes.REDIALABLE
        assert retry.retry_at(retry.retry_policy({}), ended, 1, NOW) == NOW + timedelta(minutes=5)
        assert retry.retry_at(retry.retry_policy({}), ended, 3, NOW) is None
        assert outcomes.outcome_of_run("busy", None, end_reason) == "busy"
        assert outcomes.outcome_of_run("completed", "voicemail", end_reason) == "voicemail"

    @pytest.mark.parametrize(
        ("status", "outcome", "contact"),
        [
            ("completed", "answered", "answered"),
            ("completed", "transferred", "answered"),
            ("completed", "voicemail", "voicemail"),
            ("completed", "not_understood", "not_understood"),
            ("failed", "answered", "answered"),
            ("busy", None, "busy"),
            ("no_answer", "no_answer", "no_answer"),
            ("canceled", "canceled", "canceled"),
            ("failed", "failed", "failed"),
            ("completed", None, "failed"),
        ],
    )
    def test_what_a_run_means_for_the_contact(self, status: str, outcome: str | None, contact: str) -> None:
        assert outcomes.outcome_of_run(status, outcome) == contact

    def test_every_end_of_a_run_has_an_outcome(self) -> None:
        for status in FINAL_STATES:
            for outcome in (None, "answered", "idle", "nonsense"):
                assert outcomes.outcome_of_run(status, outcome) in outcomes.OUTCOMES


@pytest.mark.parametrize(
    ("stored", "configured"),
    [
        (None, {}),
        ({"action": "hang_up"}, {"enabled": True, "action": "hang_up"}),
        ({"action": "leave_message", "message": "Hi."}, {"enabled": True, "action": "message", "message": "Hi."}),
        ({"action": "leave_message"}, {"enabled": True, "action": "hang_up"}),
    ],
)
def test_voicemail_in_the_voice_loops_terms(stored: dict[str, Any] | None, configured: dict[str, Any]) -> None:
    assert voicemail.voicemail_overrides(stored).get("voicemail_detection", {}) == configured
