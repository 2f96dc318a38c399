"""The prepaid ledger: credit adds to the balance, runs reduce it, and an empty balance may block new calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.root import settings_of
from offhook.usage import repository
from offhook.usage.periods import included_month
from offhook.usage.tables import BillingAccount, LedgerEntry

CREDIT_ENTRY: Final = "credit"
RUN_ENTRY: Final = "run"
CHARGE_ENTRY: Final = "charge"
ADJUSTMENT_ENTRY: Final = "adjustment"
_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class EffectiveTerms:
    """The terms in effect for an organization: its own, or the installation's where it has none."""

    platform_cents_per_minute: Decimal
    included_minutes: int
    is_enforced: bool
    daily_limit_cents: int | None


@dataclass(frozen=True, slots=True)
class BalanceStatus:
    """``minutes_remaining``: the minutes that included minutes and balance cover at the platform's price.

    ``is_unlimited``: the platform charges nothing per minute, so only the vendors' prices use up the balance.
    """

    terms: EffectiveTerms
    balance_cents: int
    included_minutes_left: float
    minutes_remaining: float
    is_unlimited: bool


def effective_terms(session: AsyncSession, account: BillingAccount | None) -> EffectiveTerms:
    """Returns the terms of an account; None is an organization without an account yet."""
    settings = settings_of(session)
    price = account.platform_cents_per_minute if account else None
    included = account.included_minutes if account else None
    enforced = account.is_enforced if account else None
    return EffectiveTerms(
        platform_cents_per_minute=settings.platform_cents_per_minute if price is None else price,
        included_minutes=settings.included_minutes if included is None else included,
        is_enforced=settings.billing_enforced if enforced is None else enforced,
        daily_limit_cents=_daily_limit(settings.daily_spend_limit_cents, account),
    )


def _daily_limit(installation: int, account: BillingAccount | None) -> int | None:
    """Returns the lowest limit that applies. The operator's for the organization replaces the installation's; the
    organization's own can only lower it. 0 of the operator is no limit."""
    of_operator = account.daily_limit_cents if account and account.daily_limit_cents is not None else installation
    own = account.own_daily_limit_cents if account else None
    limits = [limit for limit in (of_operator or None, own) if limit is not None]
    return min(limits, default=None)


async def get_balance_status(
    session: AsyncSession, organization_id: int, *, now: datetime | None = None
) -> BalanceStatus:
    """Returns the organization's current balance and minutes."""
    account = await repository.find_account(session, organization_id)
    terms = effective_terms(session, account)
    balance = account.balance_cents if account else 0
    left = 0.0
    if terms.included_minutes:
        period = included_month(now or time_of(session))
        used_ms = (await repository.period_totals(session, organization_id, period)).billable_ms
        left = max(0.0, terms.included_minutes - int(used_ms) / _MINUTE_MS)
    price = terms.platform_cents_per_minute
    bought = max(0.0, balance / float(price)) if price else 0.0
    return BalanceStatus(terms, balance, left, round(left + bought, 2), not price)


async def is_enforced(session: AsyncSession, organization_id: int) -> bool:
    """Returns whether an empty balance blocks new calls of this organization."""
    return effective_terms(session, await repository.find_account(session, organization_id)).is_enforced


async def platform_price(session: AsyncSession, organization_id: int) -> Decimal:
    """Returns the platform's price in cents per minute."""
    return effective_terms(session, await repository.find_account(session, organization_id)).platform_cents_per_minute


async def add_credit(
    session: AsyncSession, organization_id: int, cents: int, *, note: str | None = None, created_by: int | None = None
) -> LedgerEntry:
    """Adds ``cents`` to the balance; a negative amount is an adjustment."""
    await repository.lock_account(session, organization_id)
    kind = CREDIT_ENTRY if cents > 0 else ADJUSTMENT_ENTRY
    entry = {"kind": kind, "amount_cents": cents, "note": note, "created_by": created_by}
    (made,) = await repository.append_entries(session, organization_id, [entry])
    await session.refresh(made)
    return made


@dataclass(frozen=True, slots=True)
class RunCharge:
    """The difference between a run's cost and what it was charged; ``is_first``: it was never charged before.

    ``is_of_today``: it began on an earlier day and ended on this one, whose limit it counts for.
    """

    run_id: int
    cents: int
    is_first: bool
    is_of_today: bool = False


async def post_run_charges(session: AsyncSession, organization_id: int, runs: Sequence[RunCharge]) -> None:
    """Deducts the costs of runs from the balance, one entry each. Free runs leave none.

    The caller holds the lock on the account.
    """
    entries = [
        {
            "kind": _kind_of(due),
            "amount_cents": -due.cents,
            "run_id": due.run_id,
            "note": None if due.is_first else "Counted again",
        }
        for due in runs
        if due.cents
    ]
    if entries:
        await repository.append_entries(session, organization_id, entries)


def _kind_of(due: RunCharge) -> str:
    if not due.is_first:
        return ADJUSTMENT_ENTRY
    # Runs count for the day that they began on, by their sums; charges for that of their entry.
    return CHARGE_ENTRY if due.is_of_today else RUN_ENTRY


async def set_terms(
    session: AsyncSession,
    organization_id: int,
    *,
    platform_cents_per_minute: Decimal | None,
    included_minutes: int | None,
    is_enforced: bool | None,
    daily_limit_cents: int | None = None,
) -> None:
    """Replaces an organization's terms; None means the installation's. Finished runs keep their cost."""
    account = await repository.lock_account(session, organization_id)
    account.platform_cents_per_minute = platform_cents_per_minute
    account.included_minutes = included_minutes
    account.is_enforced = is_enforced
    account.daily_limit_cents = daily_limit_cents
    await session.flush()
