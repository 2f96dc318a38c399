"""Chooses the caller ID of a call from an account's numbers: the requested one, else the default, else one of the
pool."""

import secrets
from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.queries import count_calls_by_number
from offhook.telephony.errors import NoNumberToCallFrom
from offhook.telephony.ports import CallCapabilities, CarrierAccount


def call_capacity(carrier: CallCapabilities, account: CarrierAccount) -> int | None:
    """Returns how many campaign calls the account carries at once: one for each number unless the account allows
    more; None where numbers do not limit."""
    if not carrier.limits_by_number:
        return None
    return _calls_at_once(account) or max(1, len(account.numbers))


async def choose_for_call(session: AsyncSession, carrier: CallCapabilities, account: CarrierAccount) -> str:
    """Returns the number for a single call, which is never refused because of other calls on a number. Raises
    NoNumberToCallFrom (409)."""
    only = account.caller_number or _single_number(carrier, account)
    if only is not None:
        return only
    return rotate_numbers(account, await count_calls_by_number(session, account.organization_id, account.numbers), 1)[0]


async def choose_for_campaign(
    session: AsyncSession, carrier: CallCapabilities, account: CarrierAccount, count: int
) -> list[str]:
    """Returns a number for each of ``count`` campaign calls, for which :func:`call_capacity` has room. No number
    gets two at once unless the account allows more. The function's caller holds the organization's call slots."""
    is_one_call_each = carrier.limits_by_number and _calls_at_once(account) is None
    only = (None if is_one_call_each else account.caller_number) or _single_number(carrier, account)
    if only is not None:
        return [only] * count
    return rotate_numbers(
        account, await count_calls_by_number(session, account.organization_id, account.numbers), count
    )


def rotate_numbers(account: CarrierAccount, live: Mapping[str, int], count: int) -> list[str]:
    """Returns the default if no number has fewer ``live`` calls, else a random one of those that have the fewest."""
    calls = {number: live.get(number, 0) for number in account.numbers}
    chosen = []
    for _ in range(count):
        fewest = min(calls.values())
        idle = [number for number, has in calls.items() if has == fewest]
        number = account.caller_number if account.caller_number in idle else secrets.choice(idle)
        calls[number] += 1
        chosen.append(number)
    return chosen


def require_number(carrier: CallCapabilities, account: CarrierAccount) -> None:
    """Raises NoNumberToCallFrom (409) where no number can place calls."""
    if not account.numbers:
        _single_number(carrier, account)


def _single_number(carrier: CallCapabilities, account: CarrierAccount) -> str | None:
    """Returns the only number of the account, or, if it has none, the one in its configuration; None where there are
    several."""
    if account.numbers:
        return account.numbers[0] if len(account.numbers) == 1 else None
    configured = account.config.get("from_number")
    if isinstance(configured, str) and configured:
        return configured
    if carrier.default_caller_number is None:
        raise NoNumberToCallFrom
    return carrier.default_caller_number


def _calls_at_once(account: CarrierAccount) -> int | None:
    configured = account.config.get("max_concurrent_calls")
    if isinstance(configured, int) and not isinstance(configured, bool) and configured > 0:
        return configured
    return None
