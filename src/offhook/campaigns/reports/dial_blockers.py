"""Explains why a contact is not being called now, by the rules in the order in which the engine applies them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offhook.campaigns.engine.ports import CampaignPlan
from offhook.campaigns.rules.destinations import check_destination
from offhook.campaigns.rules.hours import calling_window
from offhook.campaigns.rules.slots import effective_cap


@dataclass(frozen=True, slots=True)
class ContactFacts:
    """A contact and everything that can block it. ``free_slots`` are the organization's,
    ``has_free_place`` is about all processes."""

    plan: CampaignPlan
    status: str
    status_reason: str | None
    phone_number: str
    state: str
    outcome: str | None
    reason: str | None
    due_at: datetime
    hold: str | None
    is_on_do_not_call_list: bool
    has_credit: bool
    spent_cents: int
    organization_limit: int
    free_slots: int
    numbers: int | None
    open_attempts: int
    no_route: str | None = None
    account_calls: int = 0
    is_closed_by_policy: bool = False
    has_free_place: bool = True


@dataclass(frozen=True, slots=True)
class WhyNotNow:
    """The rule that blocks a contact; None when it is next in line. ``until``: when the rule lifts, if known."""

    can_be_called: bool
    rule: str | None
    explanation: str
    until: datetime | None = None


_STATUS = {
    "draft": "The campaign has not been started.",
    "paused": "The campaign is paused.",
    "completed": "The campaign is completed.",
    "failed": "The campaign has failed.",
}


def why_not_now(facts: ContactFacts, now: datetime) -> WhyNotNow:
    """Returns the first rule that blocks the contact."""
    for rule in (_check_contact, _check_campaign, _check_number, _check_time, _check_capacity):
        held = rule(facts, now)
        if held is not None:
            return held
    return WhyNotNow(True, None, "The contact is ready and waits for the next free call slot.")


def _blocked_by(rule: str, explanation: str, until: datetime | None = None) -> WhyNotNow:
    return WhyNotNow(False, rule, explanation, until)


def _check_contact(facts: ContactFacts, now: datetime) -> WhyNotNow | None:
    if facts.state == "done":
        because = f" ({facts.reason})" if facts.reason and facts.reason != facts.outcome else ""
        return _blocked_by("contact_done", f"The contact is finished: {facts.outcome}{because}.")
    if facts.state == "calling":
        return _blocked_by("call_in_progress", "The contact is being called now.")
    return None


def _check_campaign(facts: ContactFacts, now: datetime) -> WhyNotNow | None:
    if facts.status != "running":
        why = f" {facts.status_reason}" if facts.status_reason else ""
        return _blocked_by(f"campaign_{facts.status}", _STATUS.get(facts.status, "The campaign is not running.") + why)
    if not facts.has_credit:
        return _blocked_by("out_of_credit", "The organization is out of credit.")
    cap = facts.plan.spend_cap_cents
    if cap is not None and facts.spent_cents >= cap:
        return _blocked_by(
            "spend_cap", f"The campaign has cost {facts.spent_cents} cents; its spend limit is {cap} cents."
        )
    if facts.no_route is not None:
        return _blocked_by("no_route", facts.no_route)
    return None


def _check_number(facts: ContactFacts, now: datetime) -> WhyNotNow | None:
    found = check_destination(facts.plan.destinations, facts.phone_number)
    if found.refusal is not None:
        return _blocked_by(found.refusal, "The number is invalid, or the campaign does not call such numbers.")
    if facts.is_closed_by_policy:
        return _blocked_by("destination_blocked", "The organization's call policy does not allow calls to the number.")
    if facts.is_on_do_not_call_list:
        return _blocked_by("do_not_call", "The number is on the do-not-call list.")
    return None


_CLOSED = {
    "unknown_zone": "The time zone of the number is unknown, so calling hours count as closed.",
    "outside_calling_hours": "The campaign's calling hours are closed.",
    "outside_callee_hours": "Calling hours are closed in the time zone of the number.",
}


def _check_time(facts: ContactFacts, now: datetime) -> WhyNotNow | None:
    zones: Sequence[str] = check_destination(facts.plan.destinations, facts.phone_number).zones
    open_now = calling_window(facts.plan.hours, now, zones)
    if not open_now.is_open:
        reason = open_now.reason or "closed"
        return _blocked_by(reason, _CLOSED.get(reason, "Calling hours are closed."), open_now.until)
    if facts.due_at > now:
        return _blocked_by(facts.hold or "retry_delay", "The next call is due later.", facts.due_at)
    return None


def _check_capacity(facts: ContactFacts, now: datetime) -> WhyNotNow | None:
    cap = effective_cap(facts.plan.max_concurrency, facts.organization_limit, facts.numbers)
    if facts.open_attempts >= cap:
        return _blocked_by(
            "campaign_concurrency", f"The campaign has {facts.open_attempts} live calls, which is its limit."
        )
    if facts.numbers is not None and facts.account_calls >= facts.numbers:
        return _blocked_by(
            "carrier_numbers", f"The carrier account has {facts.account_calls} live calls, which is its limit."
        )
    if facts.free_slots <= 0:
        return _blocked_by(
            "organization_concurrency",
            f"The organization has {facts.organization_limit} live calls, which is its limit.",
        )
    if not facts.has_free_place:
        return _blocked_by("cluster_full", "All places for calls are taken. The campaign goes on when a call ends.")
    return None
