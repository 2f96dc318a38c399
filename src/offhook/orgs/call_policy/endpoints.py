"""The call policy and the blocked callers over HTTP."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import Response
from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.kit.json_numbers import reject_boolean
from offhook.kit.phone_numbers import E164, CountryCode
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.recorder import write_change_entry
from offhook.orgs.call_policy import policies, repository
from offhook.orgs.call_policy.rules import CallPolicy
from offhook.orgs.dependencies import CurrentOrg, RequireAdmin, RequireMember
from offhook.orgs.errors import BlockedCallerNotFound
from offhook.orgs.tables import BlockedCaller

router = Router(prefix="/organizations", tags=["call policy"])

Cents = Annotated[Decimal, BeforeValidator(reject_boolean), Field(gt=0, le=100_000, decimal_places=4)]
CallLimit = Annotated[int, BeforeValidator(reject_boolean), Field(ge=1, le=10_000)]


class CallPolicyUpdate(Schema):
    """Where calls, triggers, transfers and campaigns may go, and how often one caller may call.

    ``countries``: null for every country; a country that is listed is allowed even if it is high risk.
    ``max_cents_per_minute``: the highest price of a destination, as far as prices are known.
    """

    model_config = ConfigDict(extra="forbid")

    countries: Annotated[list[CountryCode], Field(max_length=250)] | None = None
    allows_premium: bool = False
    allows_satellite: bool = False
    allows_high_risk: bool = False
    max_cents_per_minute: Cents | None = None
    max_live_calls_per_caller: CallLimit | None = None
    max_hourly_calls_per_caller: CallLimit | None = None


class CallPolicyResponse(Schema):
    """The policy as in the request; null where there is no limit."""

    countries: list[str] | None
    allows_premium: bool
    allows_satellite: bool
    allows_high_risk: bool
    max_cents_per_minute: Decimal | None
    max_live_calls_per_caller: int | None
    max_hourly_calls_per_caller: int | None


class BlockedCallerAdd(Schema):
    phone_number: E164
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None


class BlockedCallerResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    phone_number: str
    reason: str | None
    created_by: int | None
    created_at: datetime


class BlockedCallerList(Schema):
    entries: list[BlockedCallerResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int


@router.get("/call-policy", response_model=CallPolicyResponse, operation_id="get_call_policy")
async def get_call_policy(org: CurrentOrg, session: Session) -> CallPolicyResponse:
    """Returns where your organization's calls may go."""
    return _render(await policies.load_policy(session, org.organization_id))


@router.put("/call-policy", response_model=CallPolicyResponse, operation_id="put_call_policy")
async def put_call_policy(body: CallPolicyUpdate, org: RequireAdmin, session: Session) -> CallPolicyResponse:
    """Replaces where your organization's calls may go; omitted fields get their default."""
    values = body.model_dump()
    if body.countries is not None:
        values["countries"] = sorted(set(body.countries))
    await repository.save_policy(session, org.organization_id, values)
    await write_change_entry(
        session, org, "call_policy.updated", f"organization:{org.organization_id}", body.model_dump(mode="json")
    )
    return _render(await policies.load_policy(session, org.organization_id))


@router.get("/blocked-callers", response_model=BlockedCallerList, operation_id="list_blocked_callers")
async def list_blocked_callers(org: CurrentOrg, session: Session, page: PageParams) -> BlockedCallerList:
    """Lists the callers whose calls are refused, newest first."""
    entries, total = await repository.list_blocked(session, org.organization_id, limit=page.limit, offset=page.offset)
    return BlockedCallerList(
        entries=[BlockedCallerResponse.model_validate(entry) for entry in entries],
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.post("/blocked-callers", response_model=BlockedCallerResponse, operation_id="add_blocked_caller")
async def add_blocked_caller(body: BlockedCallerAdd, org: RequireMember, session: Session) -> BlockedCaller:
    """Blocks further calls from this number. A number that is already blocked keeps its entry."""
    values = {"reason": body.reason, "created_by": org.user_id}
    made = await repository.insert_blocked(session, org.organization_id, body.phone_number, values)
    if made is None:
        known = await repository.find_blocked(session, org.organization_id, body.phone_number)
        if known is None:
            raise BlockedCallerNotFound
        return known
    await write_change_entry(session, org, "blocked_caller.added", f"blocked_caller:{made.id}")
    return made


@router.delete(
    "/blocked-callers/{entry_id}",
    status_code=204,
    response_class=Response,
    response_model=None,
    operation_id="remove_blocked_caller",
)
async def remove_blocked_caller(entry_id: LongId, org: RequireMember, session: Session) -> None:
    """Lets the number call again."""
    if await repository.delete_blocked(session, org.organization_id, entry_id) is None:
        raise BlockedCallerNotFound
    await write_change_entry(session, org, "blocked_caller.removed", f"blocked_caller:{entry_id}")


def _render(policy: CallPolicy) -> CallPolicyResponse:
    return CallPolicyResponse(
        countries=sorted(policy.countries) if policy.countries is not None else None,
        allows_premium=policy.allows_premium,
        allows_satellite=policy.allows_satellite,
        allows_high_risk=policy.allows_high_risk,
        max_cents_per_minute=policy.max_cents_per_minute,
        max_live_calls_per_caller=policy.max_live_calls_per_caller,
        max_hourly_calls_per_caller=policy.max_hourly_calls_per_caller,
    )
