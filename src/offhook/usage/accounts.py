"""Changes to an organization's credit and billing terms, with an entry in its audit log."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import NotFound
from offhook.kit.database.database import Database
from offhook.orgs import Caller, answer_idempotent, write_audit_entry
from offhook.orgs import service as orgs
from offhook.usage import ledger, repository
from offhook.usage.errors import OrganizationNotFound
from offhook.usage.periods import start_of_day
from offhook.usage.schemas import (
    AddCreditRequest,
    BillingAccountResponse,
    BillingTerms,
    CreditAdded,
    LedgerEntryItem,
    SpendLimit,
)
from offhook.usage.tables import LedgerEntry


async def balance_cents(session: AsyncSession, organization_id: int) -> int:
    account = await repository.find_account(session, organization_id)
    return account.balance_cents if account else 0


async def add_credit(
    session: AsyncSession, caller: Caller, organization_id: int, cents: int, note: str | None
) -> LedgerEntry:
    """Adds credit. Raises OrganizationNotFound (404)."""
    await _require_organization(session, organization_id)
    entry = await ledger.add_credit(session, organization_id, cents, note=note, created_by=caller.user_id)
    await _audit_change(session, caller, organization_id, "credit.added", {"cents": cents, "note": note})
    return entry


class CreditService:
    """Adds credit once per ``Idempotency-Key``, each time in transactions of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add_credit(
        self, caller: Caller, organization_id: int, request: AddCreditRequest, *, idempotency_key: str | None
    ) -> CreditAdded:
        """Adds credit and returns the ledger entry. Raises OrganizationNotFound (404) and what ``answer_idempotent`` raises."""

        async def apply_credit() -> CreditAdded:
            async with self._db.transaction() as session:
                entry = await add_credit(session, caller, organization_id, request.cents, request.note)
                values = LedgerEntryItem.model_validate(entry).model_dump()
            return CreditAdded.model_validate(values | {"organization_id": organization_id})

        return await answer_idempotent(
            self._db,
            CreditAdded,
            organization_id=caller.organization_id,
            scope=f"credits:{organization_id}",
            key=idempotency_key,
            body=request,
            action=apply_credit,
        )


async def get_billing(session: AsyncSession, organization_id: int) -> BillingAccountResponse:
    """Returns an organization's billing terms. Raises OrganizationNotFound (404)."""
    await _require_organization(session, organization_id)
    account = await repository.find_account(session, organization_id)
    effective = ledger.effective_terms(session, account)
    return BillingAccountResponse(
        organization_id=organization_id,
        balance_cents=account.balance_cents if account else 0,
        platform_cents_per_minute=account.platform_cents_per_minute if account else None,
        included_minutes=account.included_minutes if account else None,
        is_enforced=account.is_enforced if account else None,
        daily_limit_cents=account.daily_limit_cents if account else None,
        effective=BillingTerms(
            platform_cents_per_minute=effective.platform_cents_per_minute,
            included_minutes=effective.included_minutes,
            is_enforced=effective.is_enforced,
            daily_limit_cents=effective.daily_limit_cents,
        ),
    )


async def set_billing(
    session: AsyncSession, caller: Caller, organization_id: int, terms: BillingTerms
) -> BillingAccountResponse:
    """Replaces the billing terms. Raises OrganizationNotFound (404)."""
    await _require_organization(session, organization_id)
    await ledger.set_terms(
        session,
        organization_id,
        platform_cents_per_minute=terms.platform_cents_per_minute,
        included_minutes=terms.included_minutes,
        is_enforced=terms.is_enforced,
        daily_limit_cents=terms.daily_limit_cents,
    )
    await _audit_change(session, caller, organization_id, "billing.changed", terms.model_dump(mode="json"))
    return await get_billing(session, organization_id)


async def get_spend_limit(session: AsyncSession, organization_id: int, now: datetime) -> SpendLimit:
    """Returns the limit of a day's spend and what was spent today."""
    account = await repository.find_account(session, organization_id)
    _, spent = await repository.committed_cents(session, organization_id, start_of_day(now))
    return SpendLimit(
        own_limit_cents=account.own_daily_limit_cents if account else None,
        limit_cents=ledger.effective_terms(session, account).daily_limit_cents,
        spent_today_cents=spent,
    )


async def set_spend_limit(
    session: AsyncSession, caller: Caller, own_limit_cents: int | None, now: datetime
) -> SpendLimit:
    """Sets the organization's own limit of a day's spend, which can only lower the operator's."""
    account = await repository.lock_account(session, caller.organization_id)
    account.own_daily_limit_cents = own_limit_cents
    await session.flush()
    data: dict[str, object] = {"own_limit_cents": own_limit_cents}
    await _audit_change(session, caller, caller.organization_id, "spend_limit.changed", data)
    return await get_spend_limit(session, caller.organization_id, now)


async def _require_organization(session: AsyncSession, organization_id: int) -> None:
    try:
        await orgs.get_organization(session, organization_id)
    except NotFound:
        raise OrganizationNotFound from None


async def _audit_change(
    session: AsyncSession, caller: Caller, organization_id: int, action: str, data: dict[str, object]
) -> None:
    """Writes to the log of the affected organization, regardless of who made the change."""
    there = replace(caller, organization_id=organization_id)
    await write_audit_entry(session, there, action, f"organization:{organization_id}", data)
