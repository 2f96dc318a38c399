"""One dialing pass of an organization: check every rule, reserve, commit, and only then call the carrier."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from offhook.campaigns.engine.ports import (
    AcceptedCall,
    CampaignCarrier,
    CampaignPlan,
    CampaignStore,
    CampaignTransaction,
    ClaimedContact,
    CommittedDial,
    ContactCheck,
    ContactRefusal,
    DialRoute,
    EngineTime,
    FateUnknown,
    NoRoute,
    NotPlaced,
)
from offhook.campaigns.engine.settlement import NEVER_DIALED, AttemptSettler
from offhook.campaigns.rules.breaker import trip_reason
from offhook.campaigns.rules.destinations import BLOCKED, DestinationCheck, check_destination
from offhook.campaigns.rules.destinations import INVALID as INVALID_NUMBER
from offhook.campaigns.rules.hours import CallingWindow, calling_window
from offhook.campaigns.rules.outcomes import DO_NOT_CALL, FAILED
from offhook.campaigns.rules.slots import SlotDemand, effective_cap, share_slots

log = structlog.get_logger(__name__)

# A dial that has not begun this long after its commit never begins. A pause and the check after a crash rely on that.
FENCE_S: Final = 3.0
# After this many calls an organization's pass yields to others, then continues right away.
MAX_CALLS_PER_PASS: Final = 25
# Contacts that a pass may skip (refused, or outside calling hours) before it yields to others.
MAX_CONTACTS_EXAMINED: Final = 400
BREAKER_SAMPLE_SIZE: Final = 50


@dataclass(frozen=True, slots=True)
class DialHold:
    """The reason why a campaign does not dial now. ``until``: when to check again; None: an event will wake it."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReadyCampaign:
    plan: CampaignPlan
    route: DialRoute
    cap: int
    open_attempts: int
    closes_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReservedCalls:
    """Calls whose ``placing`` is committed; ``began`` is the monotonic time before that."""

    placings: list[CommittedDial]
    began: float


class CampaignDialer:
    """Reserves and places calls. ``check_after_s``: when the tick first checks a dial without any report."""

    def __init__(
        self,
        store: CampaignStore,
        carrier: CampaignCarrier,
        time: EngineTime,
        settling: AttemptSettler,
        *,
        check_after_s: float,
    ) -> None:
        self._store = store
        self._carrier = carrier
        self._time = time
        self._settler = settling
        self._check_after = timedelta(seconds=check_after_s)

    async def reserve_calls(self, organization_id: int, only: int | None = None) -> ReservedCalls:
        """Commits to the calls that may be placed now; ``only`` limits them to one campaign.

        The caller must :meth:`place_calls` immediately. If it crashes instead, the calls are investigated later and not
        dialed.
        """
        began = self._time.monotonic()
        async with self._store.transaction() as tx:
            return ReservedCalls(await self._reserve_in_transaction(tx, organization_id, only), began)

    async def place_calls(self, reserved: ReservedCalls) -> None:
        """Places the reserved calls concurrently."""
        await self._time.gather([self._place_call(placing, reserved.began) for placing in reserved.placings])

    async def _reserve_in_transaction(
        self, tx: CampaignTransaction, organization_id: int, only: int | None
    ) -> list[CommittedDial]:
        await tx.lock_slots(organization_id)
        plans = await tx.lock_running_campaigns(organization_id, only)
        if not plans:
            return []
        now = self._time.now()
        limit, free = await tx.slot_capacity(organization_id)
        affordable = await tx.affordable_calls(organization_id, MAX_CALLS_PER_PASS)
        if not affordable:
            return []  # the tick checks again
        ready: list[ReadyCampaign] = []
        wake_at: list[datetime] = []
        for plan in plans:
            found = await self._check_campaign(tx, plan, now, limit)
            if isinstance(found, ReadyCampaign):
                ready.append(found)
            elif found.until is not None:
                wake_at.append(found.until)
        demands = [
            SlotDemand(one.plan.id, one.open_attempts, one.cap, MAX_CALLS_PER_PASS, one.route.account) for one in ready
        ]
        given = share_slots(min(free, affordable), demands, await _count_free_numbers(tx, organization_id, ready))
        placings: list[CommittedDial] = []
        for one in ready:
            if given[one.plan.id]:
                placed, again_at = await self._reserve_contacts(tx, one, given[one.plan.id], now)
                placings += placed
                wake_at += [again_at] if again_at else []
        if len(placings) >= MAX_CALLS_PER_PASS:
            wake_at.append(now)
        if wake_at:
            await tx.schedule_dialing(organization_id, min(wake_at))
        return placings

    async def _check_campaign(
        self, tx: CampaignTransaction, plan: CampaignPlan, now: datetime, limit: int
    ) -> ReadyCampaign | DialHold:
        """Checks the rules of the whole campaign, cheapest first; some of them end or pause it."""
        work = await tx.remaining_work(plan)
        if work.next_due is None:
            if work.open_attempts == 0:
                await tx.set_status(plan.id, "completed", None, now)
            return DialHold("no_contacts_left")
        if work.next_due > now:
            return DialHold("retry_delay", work.next_due)
        # In the campaign's own zone; each contact's zones are checked with the contact.
        zones = (plan.hours.zone,) if plan.hours and plan.hours.in_callee_zone else ()
        open_now = calling_window(plan.hours, now, zones)
        if not open_now.is_open:
            return DialHold(open_now.reason or "closed", open_now.until)
        paused = await self._pause_reason(tx, plan, now)
        if paused is not None:
            await tx.set_status(plan.id, "paused", paused, now)
            return DialHold("paused")
        route = await tx.find_route(plan)
        if isinstance(route, NoRoute):
            await tx.set_status(
                plan.id, "failed" if route.is_fatal else "paused", f"{route.code}: {route.message}", now
            )
            return DialHold(route.code)
        cap = effective_cap(plan.max_concurrency, limit, route.numbers)
        if work.open_attempts >= cap:
            return DialHold("campaign_concurrency")
        return ReadyCampaign(plan, route, cap, work.open_attempts, open_now.until)

    async def _pause_reason(self, tx: CampaignTransaction, plan: CampaignPlan, now: datetime) -> str | None:
        since = now - timedelta(seconds=plan.breaker.window_s)
        if plan.running_since is not None:
            since = max(since, plan.running_since)
        if plan.breaker.is_enabled:
            why = trip_reason(plan.breaker, await tx.recent_outcomes(plan.id, since, BREAKER_SAMPLE_SIZE))
            if why is not None:
                return f"circuit_breaker: {why}"
        if plan.spend_cap_cents is not None and await tx.spent_cents(plan) >= plan.spend_cap_cents:
            return "spend_cap: the campaign has reached its spend limit."
        return None

    async def _reserve_contacts(
        self, tx: CampaignTransaction, one: ReadyCampaign, wanted: int, now: datetime
    ) -> tuple[list[CommittedDial], datetime | None]:
        """Claims, checks and reserves up to ``wanted`` contacts, and returns when the rest needs a later pass."""
        plan = one.plan
        chosen, closes_at, has_more = await self._choose_contacts(tx, one, wanted, now)
        again_at = now if has_more else None
        if chosen and one.route.calls_per_second is not None:
            taken, next_at = await tx.take_tokens(
                plan.organization_id, one.route.account, len(chosen), one.route.calls_per_second, now
            )
            chosen, again_at = chosen[:taken], next_at or again_at
        if not chosen:
            return [], again_at
        # Read after counting calls, so that calls that had ended by then do not seem to overlap with these.
        now = self._time.now()
        until = now + timedelta(seconds=FENCE_S)
        until = min(until, closes_at) if closes_at is not None else until
        attempt_ids = await tx.create_attempts(
            plan, chosen, now=now, may_dial_until=until, check_at=now + self._check_after
        )
        return await tx.start_placing(plan, one.route, chosen, attempt_ids, until), again_at

    async def _choose_contacts(
        self, tx: CampaignTransaction, one: ReadyCampaign, wanted: int, now: datetime
    ) -> tuple[list[ClaimedContact], datetime | None, bool]:
        """Returns contacts that may be called now, when their first window closes, and whether more remain to be checked.

        Contacts that may never be called end here; those that may not be called now are postponed.
        """
        plan, closes_at = one.plan, one.closes_at
        chosen: list[ClaimedContact] = []
        looked = 0
        while len(chosen) < wanted and looked < MAX_CONTACTS_EXAMINED:
            asked_for = wanted - len(chosen)
            fresh = await tx.claim_contacts(plan.id, now, asked_for, [known.id for known in chosen])
            looked += len(fresh)
            numbers = [contact.phone_number for contact in fresh]
            listed = await tx.filter_do_not_call(plan.organization_id, numbers)
            closed = await tx.filter_blocked(plan.organization_id, one.route, numbers)
            refused: list[ContactRefusal] = []
            for contact in fresh:
                found = check_destination(plan.destinations, contact.phone_number)
                if found.refusal is None and contact.phone_number in closed:
                    found = DestinationCheck(BLOCKED, found.zones)
                its = calling_window(plan.hours, now, found.zones)
                why_not = _contact_refusal(contact, found, listed, its)
                if why_not is not None:
                    refused.append(why_not)
                    continue
                chosen.append(replace(contact, checked=ContactCheck(now, found.zones, its)))
                closes_at = min((at for at in (closes_at, its.until) if at is not None), default=None)
            if refused:
                await tx.refuse_contacts(refused, now)
            if len(fresh) < asked_for:
                return chosen, closes_at, False
        return chosen, closes_at, len(chosen) < wanted

    async def _place_call(self, placing: CommittedDial, began: float) -> None:
        """Places one call. The attempt is already ``placing`` in the database, even if this process crashes."""
        if self._time.now() >= placing.may_dial_until or self._time.monotonic() - began >= FENCE_S:
            await self._settler.settle_undialed(placing.organization_id, placing.run_id, NEVER_DIALED)
            return
        try:
            call_id = await self._carrier.place_call(placing)
        except NotPlaced as failure:
            await self._settler.settle_refused(
                placing.organization_id, placing.run_id, failure.code, is_retryable=failure.is_retryable
            )
            return
        except FateUnknown:
            log.warning("campaign_call_outcome_unknown", run_id=placing.run_id, attempt_id=placing.attempt_id)
            return
        taken = AcceptedCall(placing.attempt_id, placing.organization_id, placing.run_id, call_id)
        await self._store.mark_placed(taken, self._time.now())


async def _count_free_numbers(
    tx: CampaignTransaction, organization_id: int, ready: Sequence[ReadyCampaign]
) -> dict[str, int]:
    """Returns the spare capacity of each carrier account's numbers, where numbers limit it."""
    free: dict[str, int] = {}
    for route in (campaign.route for campaign in ready):
        if route.numbers is not None and route.account not in free:
            free[route.account] = max(0, route.numbers - await tx.count_account_calls(organization_id, route))
    return free


def _contact_refusal(
    contact: ClaimedContact, found: DestinationCheck, listed: set[str], its: CallingWindow
) -> ContactRefusal | None:
    """Returns the reason why this contact may not be called, permanently or until its window opens."""
    if found.refusal == INVALID_NUMBER:
        return ContactRefusal(contact.id, INVALID_NUMBER, outcome=INVALID_NUMBER)
    if found.refusal is not None:
        return ContactRefusal(contact.id, found.refusal, outcome=FAILED)
    if contact.phone_number in listed:
        return ContactRefusal(contact.id, DO_NOT_CALL, outcome=DO_NOT_CALL)
    if its.is_open:
        return None
    reason = its.reason or "closed"
    # Calling hours that never open end the contact, with the reason.
    return ContactRefusal(contact.id, reason, outcome=FAILED if its.until is None else None, until=its.until)


__all__ = ["FENCE_S", "MAX_CALLS_PER_PASS", "CampaignDialer", "DialHold", "ReservedCalls"]
