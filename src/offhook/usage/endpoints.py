"""Endpoints for usage, the ledger and the billing terms, which only superusers change."""

from typing import Annotated

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import (
    CurrentOrg,
    IdempotencyHeader,
    Now,
    OrganizationQuota,
    ReadTransaction,
    RequireAdmin,
    RequireSuperuser,
)
from offhook.usage import accounts, repository, summary
from offhook.usage.schemas import (
    AddCreditRequest,
    BillingAccountResponse,
    BillingTerms,
    CreditAdded,
    CurrentPeriod,
    Ledger,
    LedgerEntryItem,
    ModelUsageItem,
    SpendLimit,
    SpendLimitUpdate,
    StorageUsage,
    UsageDay,
)
from offhook.usage.services import Credits

router = Router(prefix="/organizations/usage", tags=["usage"])
superuser_router = Router(prefix="/superuser/organizations", tags=["superuser"])

MAX_DAYS = 366


@router.get("/current-period", response_model=CurrentPeriod, operation_id="get_current_usage_period")
async def current_period(org: CurrentOrg, session: Session, now: Now) -> CurrentPeriod:
    """Returns calls, minutes and cost of this calendar month, and the remaining balance."""
    return await summary.current_period(session, org.organization_id, now)


@router.get("/daily-breakdown", response_model=list[UsageDay], operation_id="get_daily_usage")
async def daily_breakdown(
    org: CurrentOrg, session: Session, now: Now, days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30
) -> list[UsageDay]:
    """Returns one entry for each of the last days, newest first, including days without calls."""
    return await summary.daily_usage(session, org.organization_id, now, days)


@router.get("/by-model", response_model=list[ModelUsageItem], operation_id="get_usage_by_model")
async def by_model(org: CurrentOrg, session: Session, now: Now) -> list[ModelUsageItem]:
    """Returns the usage and cost of each model in this calendar month, most expensive first."""
    return await summary.by_model(session, org.organization_id, now)


@router.get("/ledger", response_model=Ledger, operation_id="get_usage_ledger")
async def ledger(org: RequireAdmin, session: Session, page: PageParams) -> Ledger:
    """Lists credits, runs and adjustments, newest first."""
    entries, total = await repository.list_entries(session, org.organization_id, limit=page.limit, offset=page.offset)
    return Ledger(
        entries=[LedgerEntryItem.model_validate(entry) for entry in entries],
        balance_cents=await accounts.balance_cents(session, org.organization_id),
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.get("/storage", response_model=StorageUsage, operation_id="get_storage_usage")
async def get_storage_usage(org: CurrentOrg, _read: ReadTransaction, quota: OrganizationQuota) -> StorageUsage:
    """Returns how many bytes of uploaded files your organization stores, and its limit. Call recordings do not count."""
    sizes = await quota.measure_folders(org.organization_id)
    return StorageUsage(used_bytes=sum(sizes.values()), limit_bytes=quota.limit_bytes, **sizes)


@router.get("/spend-limit", response_model=SpendLimit, operation_id="get_spend_limit")
async def get_spend_limit(org: CurrentOrg, session: Session, now: Now) -> SpendLimit:
    """Returns what your organization can spend per day (UTC), and what it has spent today."""
    return await accounts.get_spend_limit(session, org.organization_id, now)


@router.put("/spend-limit", response_model=SpendLimit, operation_id="put_spend_limit")
async def put_spend_limit(body: SpendLimitUpdate, org: RequireAdmin, session: Session, now: Now) -> SpendLimit:
    """Sets your own daily spend limit. It can only be lower than the operator's."""
    return await accounts.set_spend_limit(session, org, body.own_limit_cents, now)


@superuser_router.post("/{organization_id}/credits", response_model=CreditAdded, operation_id="add_organization_credit")
async def add_credit(
    organization_id: Id,
    body: AddCreditRequest,
    caller: RequireSuperuser,
    credits_service: Credits,
    key: IdempotencyHeader = None,
) -> CreditAdded:
    """Adds credit to an organization's balance; a negative amount reduces it."""
    return await credits_service.add_credit(caller, organization_id, body, idempotency_key=key)


@superuser_router.get(
    "/{organization_id}/billing", response_model=BillingAccountResponse, operation_id="get_organization_billing"
)
async def get_billing(organization_id: Id, caller: RequireSuperuser, session: Session) -> BillingAccountResponse:
    return await accounts.get_billing(session, organization_id)


@superuser_router.put(
    "/{organization_id}/billing", response_model=BillingAccountResponse, operation_id="set_organization_billing"
)
async def set_billing(
    organization_id: Id, body: BillingTerms, caller: RequireSuperuser, session: Session
) -> BillingAccountResponse:
    """Replaces the billing terms; null or omitted values use the installation's. Finished runs keep their cost."""
    return await accounts.set_billing(session, caller, organization_id, body)
