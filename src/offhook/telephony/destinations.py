"""Holds an organization's call policy for a call: where it may go, what it may cost, and who may call."""

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.models import prices
from offhook.models.prices import PricedUsage, PriceList
from offhook.orgs.call_policy import policies
from offhook.orgs.call_policy.rules import CallPolicy, Refusal, judge_destination
from offhook.runs import queries
from offhook.telephony.errors import DestinationBlocked

_MINUTE_S: Final = Decimal(60)
MESSAGES: Final[dict[Refusal, str]] = {
    "invalid_number": "This number is not in E.164 form.",
    "satellite": "Satellite and other numbers of no country are closed. An admin can allow them in the call policy.",
    "premium": "Premium numbers are closed. An admin can allow them in the call policy.",
    "high_risk": "This range is closed because it is often used for fraud. An admin can allow it in the call policy.",
    "country": "Your organization's call policy does not allow calls to this country.",
    "price": "A minute to this destination costs more than your organization's call policy allows.",
}


async def require_allowed(session: AsyncSession, organization_id: int, provider: str, number: str) -> None:
    """Raises DestinationBlocked (409) unless the organization's calls may go to this number (E.164)."""
    refusal = (await refused_destinations(session, organization_id, provider, [number])).get(number)
    if refusal is not None:
        raise DestinationBlocked(MESSAGES[refusal])


async def refused_destinations(
    session: AsyncSession, organization_id: int, provider: str, numbers: Collection[str]
) -> dict[str, Refusal]:
    """Returns the numbers to which calls through this carrier may not go, with the reason."""
    if not numbers:
        return {}
    policy = await policies.load_policy(session, organization_id)
    price_list = await prices.price_list(session, organization_id) if policy.max_cents_per_minute is not None else None
    found = {number: _judge(policy, price_list, provider, number) for number in numbers}
    return {number: refusal for number, refusal in found.items() if refusal is not None}


def _judge(policy: CallPolicy, price_list: PriceList | None, provider: str, number: str) -> Refusal | None:
    verdict = judge_destination(policy, number)
    if verdict.refusal is not None or price_list is None or policy.max_cents_per_minute is None:
        return verdict.refusal
    price = cents_per_minute(price_list, provider, verdict.country, datetime.now(UTC).date())
    return "price" if price is not None and price > policy.max_cents_per_minute else None


def cents_per_minute(price_list: PriceList, provider: str, country: str | None, on: date) -> Decimal | None:
    """Returns the price of a minute to a country; None where it is not known."""
    lines = price_list.price_call(provider, "outbound", country, _MINUTE_S, on)
    if not all(isinstance(line, PricedUsage) for line in lines):
        return None
    return sum((line.cost_cents for line in lines if isinstance(line, PricedUsage)), Decimal(0))


async def find_caller_refusal(session: AsyncSession, organization_id: int, number: str | None) -> str | None:
    """Returns why this caller may not call now, as a stable code; None when they may. A caller without a number is not
    limited, because there is nothing to tell them apart by. With limits, no other call of the organization begins until
    the transaction ends."""
    if not number:
        return None
    if await policies.is_caller_blocked(session, organization_id, number):
        return "caller_blocked"
    policy = await policies.load_policy(session, organization_id)
    live, hourly = policy.max_live_calls_per_caller, policy.max_hourly_calls_per_caller
    if live is None and hourly is None:
        return None
    await queries.lock_call_slots(session, organization_id)
    since = time_of(session) - timedelta(hours=1)
    now_live, in_hour = await queries.count_inbound_calls_of(session, organization_id, number, since)
    is_over = (live is not None and now_live >= live) or (hourly is not None and in_hour >= hourly)
    return "caller_limit" if is_over else None
