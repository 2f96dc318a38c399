"""Which of an account's numbers a call comes from: the one that was chosen, else its default, else one of its pool."""

import secrets
from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.call_limits import count_calls_by_number
from offhook.telephony.accounts.credentials import SANDBOX
from offhook.telephony.errors import NoNumberToCallFrom
from offhook.telephony.ports import CarrierAccount
from offhook.telephony.providers.sandbox.config import SandboxConfig


def call_capacity(account: CarrierAccount) -> int | None:
    """How many calls of campaigns the account carries at once. A number carries one at a time unless the account says
    more; None for the sandbox, which has as many as are wanted."""
    if account.provider == SANDBOX:
        return None
    return _calls_at_once(account) or max(1, len(account.numbers))


async def choose_for_call(session: AsyncSession, account: CarrierAccount) -> str:
    """Of a call by itself: it is never refused because numbers have calls. NoNumberToCallFrom (409)."""
    only = account.caller_number or _single_number(account)
    if only is not None:
        return only
    return rotate_numbers(account, await count_calls_by_number(session, account.organization_id, account.numbers), 1)[0]


async def choose_for_campaign(session: AsyncSession, account: CarrierAccount, count: int) -> list[str]:
    """Of so many calls of campaigns, which :func:`call_capacity` has room for: no number has two at once unless the account says
    that it carries more. The caller holds the organization's call slots."""
    only = _single_number(account) if is_one_call_each(account) else account.caller_number or _single_number(account)
    if only is not None:
        return [only] * count
    return rotate_numbers(
        account, await count_calls_by_number(session, account.organization_id, account.numbers), count
    )


def is_one_call_each(account: CarrierAccount) -> bool:
    """Whether a number with a live call is not to be used by campaigns for another."""
    return account.provider != SANDBOX and _calls_at_once(account) is None


def rotate_numbers(account: CarrierAccount, live: Mapping[str, int], count: int) -> list[str]:
    """The default where it has the fewest ``live`` calls, else any of those that have the fewest."""
    calls = {number: live.get(number, 0) for number in account.numbers}
    chosen = []
    for _ in range(count):
        fewest = min(calls.values())
        idle = [number for number, has in calls.items() if has == fewest]
        number = account.caller_number if account.caller_number in idle else secrets.choice(idle)
        calls[number] += 1
        chosen.append(number)
    return chosen


def require_number(account: CarrierAccount) -> None:
    """NoNumberToCallFrom (409)."""
    if not account.numbers:
        _single_number(account)


def _single_number(account: CarrierAccount) -> str | None:
    """The number of an account that has one, or none but what its configuration names; None where there are several."""
    if account.numbers:
        return account.numbers[0] if len(account.numbers) == 1 else None
    configured = account.config.get("from_number")
    if isinstance(configured, str) and configured:
        return configured
    if account.provider != SANDBOX:
        raise NoNumberToCallFrom
    return SandboxConfig().from_number


def _calls_at_once(account: CarrierAccount) -> int | None:
    configured = account.config.get("max_concurrent_calls")
    if isinstance(configured, int) and not isinstance(configured, bool) and configured > 0:
        return configured
    return None
