"""The prepaid ledger: credit goes in, runs take out, and an empty balance may stop new calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.root import settings_of
from offhook.usage import repository
from offhook.usage.errors import OutOfCredit
from offhook.usage.periods import load_time_zone, month_of
from offhook.usage.tables import BillingAccount, LedgerEntry

CREDIT_ENTRY: Final = "credit"
RUN_ENTRY: Final = "run"
ADJUSTMENT_ENTRY: Final = "adjustment"
_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class EffectiveTerms:
    """What holds for an organization: its own terms, or the installation's where it has none."""

    platform_cents_per_minute: Decimal
    included_minutes: int
    is_enforced: bool


@dataclass(frozen=True, slots=True)
class BalanceStatus:
    """``minutes_remaining``: what included minutes and balance allow at the platform's price.

    ``is_unlimited``: the platform takes nothing for a minute, so that minutes run out by the vendors' prices alone.
    """

    terms: EffectiveTerms
    balance_cents: int
    included_minutes_left: float
    minutes_remaining: float
    is_unlimited: bool

    @property
    def can_start_call(self) -> bool:
        return not self.terms.is_enforced or self.balance_cents > 0 or self.included_minutes_left > 0


def effective_terms(session: AsyncSession, account: BillingAccount | None) -> EffectiveTerms:
    """The terms of an account; None is an account that nobody has touched yet."""
    settings = settings_of(session)
    price = account.platform_cents_per_minute if account else None
    included = account.included_minutes if account else None
    enforced = account.is_enforced if account else None
    return EffectiveTerms(
        platform_cents_per_minute=settings.platform_cents_per_minute if price is None else price,
        included_minutes=settings.included_minutes if included is None else included,
        is_enforced=settings.billing_enforced if enforced is None else enforced,
    )


async def get_balance_status(
    session: AsyncSession, organization_id: int, *, now: datetime | None = None
) -> BalanceStatus:
    """The money and the minutes of an organization now."""
    account = await repository.find_account(session, organization_id)
    terms = effective_terms(session, account)
    balance = account.balance_cents if account else 0
    left = 0.0
    if terms.included_minutes:
        organization = await orgs.get_organization(session, organization_id)
        period = month_of(now or datetime.now(UTC), load_time_zone(organization.time_zone))
        used_ms = (await repository.period_totals(session, organization_id, period)).billable_ms
        left = max(0.0, terms.included_minutes - int(used_ms) / _MINUTE_MS)
    price = terms.platform_cents_per_minute
    bought = max(0.0, balance / float(price)) if price else 0.0
    return BalanceStatus(terms, balance, left, round(left + bought, 2), not price)


async def is_enforced(session: AsyncSession, organization_id: int) -> bool:
    """Whether an empty balance refuses new calls of this organization."""
    return effective_terms(session, await repository.find_account(session, organization_id)).is_enforced


async def can_start_call(session: AsyncSession, organization_id: int) -> bool:
    """Whether a new call may begin: always, unless credit is enforced and used up."""
    if not await is_enforced(session, organization_id):
        return True
    return (await get_balance_status(session, organization_id)).can_start_call


async def require_credit(session: AsyncSession, organization_id: int) -> None:
    """Raise :class:`OutOfCredit` (402) when a new call may not begin."""
    if not await can_start_call(session, organization_id):
        raise OutOfCredit


async def add_credit(
    session: AsyncSession, organization_id: int, cents: int, *, note: str | None = None, created_by: int | None = None
) -> LedgerEntry:
    """Add ``cents`` to the balance; a negative amount is an adjustment."""
    await repository.lock_account(session, organization_id)
    kind = CREDIT_ENTRY if cents > 0 else ADJUSTMENT_ENTRY
    entry = {"kind": kind, "amount_cents": cents, "note": note, "created_by": created_by}
    (made,) = await repository.append_entries(session, organization_id, [entry])
    await session.refresh(made)
    return made


@dataclass(frozen=True, slots=True)
class RunCharge:
    """What a run costs more (or less) than it was charged; ``is_first``: it was never charged before."""

    run_id: int
    cents: int
    is_first: bool


async def post_run_charges(session: AsyncSession, organization_id: int, runs: Sequence[RunCharge]) -> None:
    """Take what runs cost off the balance, an entry each. Free runs leave none.

    The caller holds the lock on the account.
    """
    entries = [
        {
            "kind": RUN_ENTRY if due.is_first else ADJUSTMENT_ENTRY,
            "amount_cents": -due.cents,
            "run_id": due.run_id,
            "note": None if due.is_first else "Counted again",
        }
        for due in runs
        if due.cents
    ]
    if entries:
        await repository.append_entries(session, organization_id, entries)


async def set_terms(
    session: AsyncSession,
    organization_id: int,
    *,
    platform_cents_per_minute: Decimal | None,
    included_minutes: int | None,
    is_enforced: bool | None,
) -> None:
    """Replace an organization's terms; None is the installation's. Runs that are over keep what they cost."""
    account = await repository.lock_account(session, organization_id)
    account.platform_cents_per_minute = platform_cents_per_minute
    account.included_minutes = included_minutes
    account.is_enforced = is_enforced
    await session.flush()
