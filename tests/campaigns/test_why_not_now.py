"""Every rule explains itself: the first one that holds a contact back, and until when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from offhook.campaigns.engine.ports import CampaignPlan
from offhook.campaigns.reports.dial_blockers import ContactFacts, why_not_now
from offhook.campaigns.rules.destinations import parse_destinations
from offhook.campaigns.rules.hours import parse_calling_hours

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MORNING = parse_calling_hours({"timezone": "UTC", "slots": [{"day": "monday", "start": "08:00", "end": "10:00"}]})
PLAN = CampaignPlan(1, 1, 1, 5, None)
FREE = ContactFacts(
    plan=PLAN,
    status="running",
    status_reason=None,
    phone_number="+14155552671",
    state="pending",
    outcome=None,
    reason=None,
    due_at=NOW,
    hold=None,
    is_on_do_not_call_list=False,
    has_credit=True,
    spent_cents=0,
    organization_limit=10,
    free_slots=3,
    numbers=None,
    open_attempts=0,
)


def test_nothing_holds_it_back() -> None:
    assert why_not_now(FREE, NOW).can_be_called


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"state": "done", "outcome": "busy"}, "contact_done"),
        ({"state": "calling"}, "call_in_progress"),
        ({"status": "draft"}, "campaign_draft"),
        ({"status": "paused", "status_reason": "circuit_breaker: 5 of 5"}, "campaign_paused"),
        ({"has_credit": False}, "out_of_credit"),
        ({"plan": replace(PLAN, spend_cap_cents=100), "spent_cents": 100}, "spend_cap"),
        ({"no_route": "Telephony configuration not found."}, "no_route"),
        ({"phone_number": "+1"}, "invalid_number"),
        ({"plan": replace(PLAN, destinations=parse_destinations({"countries": ["DE"]}))}, "destination_blocked"),
        ({"is_on_do_not_call_list": True}, "do_not_call"),
        ({"plan": replace(PLAN, hours=MORNING)}, "outside_calling_hours"),
        ({"due_at": NOW + timedelta(minutes=5), "hold": "retry_delay"}, "retry_delay"),
        ({"open_attempts": 5}, "campaign_concurrency"),
        ({"numbers": 0}, "campaign_concurrency"),
        ({"numbers": 2, "account_calls": 2}, "carrier_numbers"),
        ({"free_slots": 0}, "organization_concurrency"),
        ({"has_free_place": False}, "cluster_full"),
    ],
)
def test_the_rule_that_holds_it_back(changed: dict[str, Any], rule: str) -> None:
    held = why_not_now(replace(FREE, **changed), NOW)
    assert (held.can_be_called, held.rule) == (False, rule)
    assert held.explanation.endswith((".", "5"))


def test_it_says_until_when() -> None:
    closed = why_not_now(replace(FREE, plan=replace(PLAN, hours=MORNING)), NOW)
    assert closed.until == NOW + timedelta(days=6, hours=20)
    later = NOW + timedelta(minutes=5)
    assert why_not_now(replace(FREE, due_at=later), NOW).until == later
