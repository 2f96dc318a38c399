"""What a campaign will take, by what the agent's calls have been like."""

from decimal import Decimal

import pytest

from offhook.campaigns.intake.estimate import PastCalls, estimate_calls
from offhook.campaigns.rules.retry import RetryPolicy

TWICE = RetryPolicy(max_retries=2, delay_s=300, backoff_factor=2)


def test_an_agent_without_calls_gets_an_assumption() -> None:
    found = estimate_calls([], TWICE, contacts=100)
    assert found.calls == pytest.approx(1 + 0.4 + 0.16)
    assert found.line_s == pytest.approx(found.calls * (0.6 * 70 + 0.4 * 30))
    assert (found.cost_cents, found.is_known) == (None, False)


def test_past_calls_decide_when_there_are_enough() -> None:
    past = [
        PastCalls("completed", "answered", 30, 30 * 90.0, 300),
        PastCalls("no_answer", None, 8, 0.0, 0),
        PastCalls("failed", None, 2, 0.0, 0),
    ]
    found = estimate_calls(past, RetryPolicy(max_retries=1), contacts=100)
    assert found.calls == pytest.approx(1.2)
    assert found.line_s == pytest.approx(1.2 * (0.8 * 100 + 0.2 * 30))
    assert (found.cost_cents, found.is_known) == (Decimal(300) / 40, True)


def test_retries_that_are_off_cost_nothing() -> None:
    off = estimate_calls([], RetryPolicy(is_enabled=False), contacts=100)
    assert (off.calls, off.retry_wait_s) == (1.0, 0)
    busy_only = estimate_calls([], RetryPolicy(max_retries=1, outcomes=frozenset({"busy"})), contacts=100)
    assert busy_only.calls == pytest.approx(1 + 0.4 / 3)


def test_the_last_contact_waits_for_the_retries_that_are_likely() -> None:
    assert estimate_calls([], TWICE, contacts=100).retry_wait_s == 300 + 600
    assert estimate_calls([], TWICE, contacts=3).retry_wait_s == 300
    assert estimate_calls([], TWICE, contacts=1).retry_wait_s == 0
