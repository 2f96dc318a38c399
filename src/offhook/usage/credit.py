"""Money that is set aside before it is spent, so that what runs at the same time cannot spend it twice.

Every function that sets aside or charges holds a lock of the organization until the transaction ends. Where credit is not
enforced and no daily limit applies, nothing is set aside.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.root import settings_of
from offhook.usage import ledger, repository
from offhook.usage.errors import DailySpendLimitReached, OutOfCredit
from offhook.usage.periods import start_of_day

_UNLIMITED: Final = 10**15


@dataclass(frozen=True, slots=True)
class CreditPosition:
    """What an organization may still spend. ``credit_left`` and ``today_left`` are whole cents, without what live
    conversations hold; None: not limited."""

    credit_left: int | None
    today_left: int | None

    @property
    def is_limited(self) -> bool:
        return self.credit_left is not None or self.today_left is not None

    @property
    def available(self) -> int:
        """Returns the cents that may be set aside; never negative."""
        lefts = [left for left in (self.credit_left, self.today_left) if left is not None]
        return max(0, min(lefts, default=_UNLIMITED))

    def require(self, cents: int = 1) -> None:
        """Raises OutOfCredit or DailySpendLimitReached (402) when fewer cents are left."""
        if self.credit_left is not None and self.credit_left < cents:
            raise OutOfCredit
        if self.today_left is not None and self.today_left < cents:
            raise DailySpendLimitReached


async def credit_position(
    session: AsyncSession, organization_id: int, *, now: datetime | None = None
) -> CreditPosition:
    """Returns what the organization may still spend. To set aside some of it, take the lock first."""
    now = now or time_of(session)
    account = await repository.find_account(session, organization_id)
    terms = ledger.effective_terms(session, account)
    if not terms.is_enforced and terms.daily_limit_cents is None:
        return CreditPosition(None, None)
    held, spent = await repository.committed_cents(session, organization_id, start_of_day(now))
    today_left = None if terms.daily_limit_cents is None else terms.daily_limit_cents - spent - held
    credit_left = None
    if terms.is_enforced:
        status = await ledger.get_balance_status(session, organization_id, now=now)
        price = terms.platform_cents_per_minute
        has_free_minutes = not price and status.included_minutes_left > 0
        included = math.floor(Decimal(str(status.included_minutes_left)) * price)
        credit_left = None if has_free_minutes else status.balance_cents + included - held
    return CreditPosition(credit_left, today_left)


async def can_spend(session: AsyncSession, organization_id: int) -> bool:
    """Returns whether anything may be spent now."""
    return (await credit_position(session, organization_id)).available > 0


async def affordable_calls(session: AsyncSession, organization_id: int, wanted: int) -> int:
    """Returns how many of ``wanted`` calls may start now; holds the lock. Raises OutOfCredit or DailySpendLimitReached
    (402) when none may."""
    await repository.lock_credit(session, organization_id)
    position = await credit_position(session, organization_id)
    position.require()
    return min(wanted, math.ceil(position.available / settings_of(session).call_hold_cents))


async def reserve_call(session: AsyncSession, organization_id: int) -> int:
    """Returns the cents that a call which begins in this transaction has to hold; 0 where nothing is limited. Raises
    OutOfCredit or DailySpendLimitReached (402)."""
    return await _reserve(session, organization_id, settings_of(session).call_hold_cents)


async def reserve_chat(session: AsyncSession, organization_id: int) -> int:
    """Returns the cents that a text chat which begins in this transaction has to hold; as :func:`reserve_call`."""
    return await _reserve(session, organization_id, settings_of(session).chat_hold_cents)


async def _reserve(session: AsyncSession, organization_id: int, cents: int) -> int:
    await repository.lock_credit(session, organization_id)
    position = await credit_position(session, organization_id)
    position.require()
    return min(cents, position.available) if position.is_limited else 0


async def hold_for_runs(session: AsyncSession, organization_id: int, run_ids: Sequence[int], cents: int) -> None:
    """Sets aside ``cents`` for each of these new runs, in the transaction that reserved them."""
    if cents and run_ids:
        await repository.insert_holds(session, organization_id, run_ids, cents)


async def hold_for_calls(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> None:
    """Sets aside what :func:`affordable_calls` allowed, evenly for each of these new calls."""
    await repository.lock_credit(session, organization_id)
    position = await credit_position(session, organization_id)
    if position.is_limited and run_ids:
        cents = min(settings_of(session).call_hold_cents, position.available // len(run_ids))
        await hold_for_runs(session, organization_id, run_ids, cents)


async def extend_chat(session: AsyncSession, organization_id: int, run_id: int, cents: int) -> None:
    """Sets aside what a text chat lacks to hold ``cents``. Raises OutOfCredit or DailySpendLimitReached (402)."""
    await repository.lock_credit(session, organization_id)
    position = await credit_position(session, organization_id)
    if not position.is_limited:
        return
    held = (await repository.holds_of_runs(session, organization_id, [run_id])).get(run_id, 0)
    if cents > held:
        position.require(cents - held)
        await repository.set_hold(session, organization_id, run_id, cents)


@dataclass(frozen=True, slots=True)
class CallCredit:
    """What a live call holds in cents. ``is_last``: there is no more to set aside, so it ends when it has used this."""

    held_cents: int
    is_last: bool


async def extend_calls(
    session: AsyncSession, organization_id: int, used_cents: Mapping[int, Decimal]
) -> dict[int, CallCredit]:
    """Sets aside more for live calls of one organization, given what each run has used so far. Returns what they hold
    then, by run; nothing where nothing is limited."""
    await repository.lock_credit(session, organization_id)
    position = await credit_position(session, organization_id)
    if not position.is_limited:
        return {}
    step = settings_of(session).call_hold_cents
    holds = await repository.holds_of_runs(session, organization_id, list(used_cents))
    free = position.available
    found = {}
    for run_id, used in sorted(used_cents.items()):
        held = holds.get(run_id, 0)
        wanted = math.ceil(used) + step
        given = min(max(0, wanted - held), free)
        if given:
            free -= given
            held += given
            await repository.set_hold(session, organization_id, run_id, held)
        found[run_id] = CallCredit(held, is_last=held < wanted)
    return found


async def charge_credit(session: AsyncSession, organization_id: int, cents: int, note: str) -> None:
    """Charges something that is no conversation. Raises OutOfCredit or DailySpendLimitReached (402) when fewer cents
    are left."""
    await repository.lock_credit(session, organization_id)
    (await credit_position(session, organization_id)).require(max(1, cents))
    await _post(session, organization_id, -cents, note)


async def refund_credit(
    session: AsyncSession, organization_id: int, cents: int, note: str, *, charged_at: datetime
) -> None:
    """Takes back a charge for something that did not happen. One of an earlier day adds nothing to today's limit."""
    is_of_today = charged_at >= start_of_day(datetime.now(UTC))
    await _post(session, organization_id, cents, note, ledger.CHARGE_ENTRY if is_of_today else ledger.ADJUSTMENT_ENTRY)


async def charge_model_request(session: AsyncSession, organization_id: int, note: str) -> None:
    """Charges a request to a model outside of a conversation, where credit is enforced or a daily limit applies. Raises
    as :func:`charge_credit`."""
    terms = ledger.effective_terms(session, await repository.find_account(session, organization_id))
    is_limited = terms.is_enforced or terms.daily_limit_cents is not None
    cents = settings_of(session).model_request_cents if is_limited else 0
    await charge_credit(session, organization_id, cents, note)


async def _post(
    session: AsyncSession, organization_id: int, cents: int, note: str, kind: str = ledger.CHARGE_ENTRY
) -> None:
    if cents:
        await repository.lock_account(session, organization_id)
        entry = {"kind": kind, "amount_cents": cents, "note": note[:500]}
        await repository.append_entries(session, organization_id, [entry])
