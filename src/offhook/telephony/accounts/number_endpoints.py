"""Looking up numbers, and buying them with the platform's own account (section 4.1)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id
from offhook.kit.phone_numbers import E164, CountryCode
from offhook.orgs import CurrentOrg, RequireAdmin
from offhook.orgs.idempotency import IdempotencyHeader, run_idempotent
from offhook.root import use_service
from offhook.telephony.accounts.number_lookup import CarrierLookup
from offhook.telephony.accounts.number_purchasing import ManagedNumbers, PurchaseRequest
from offhook.telephony.calls.outbound import OutboundCalls
from offhook.telephony.calls.schemas import RowId

AreaCode = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^\d{1,6}$")]
ManagedNumbersDep = Annotated[ManagedNumbers, Depends(use_service(ManagedNumbers))]

router = APIRouter(prefix="/telephony", tags=["telephony"])


class CarrierLookupResponse(BaseModel):
    """``source``: the carrier that was asked, or ``offline`` for the numbering plan, which knows no carrier."""

    number: str
    e164: str
    valid: bool
    country_code: str | None
    carrier: str | None
    line_type: Literal["mobile", "landline", "voip", "toll_free", "premium", "unknown"]
    time_zones: list[str]
    source: str


class AvailableNumberResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    phone_number: str
    friendly_name: str
    locality: str | None
    region: str | None
    country: str
    number_type: str
    capabilities: list[str]
    monthly_cost_cents: int | None


class AvailableNumbersResponse(BaseModel):
    numbers: list[AvailableNumberResponse]
    country: str
    area_code: str | None


class QuickConnectRequest(BaseModel):
    """``forward``: a number to which the existing one is forwarded; ``new``: the organization's primary line."""

    mode: Literal["forward", "new"]
    country: CountryCode = "US"
    area_code: AreaCode | None = None
    phone_number: E164 | None = None
    existing_number: E164 | None = None
    workflow_id: RowId | None = None
    label: Annotated[str, Field(max_length=64)] | None = None

    @model_validator(mode="after")
    def _forwards_something(self) -> "QuickConnectRequest":
        if self.mode == "forward" and self.existing_number is None:
            raise ValueError("existing_number is missing: which number is to be forwarded?")
        if self.mode == "new" and self.existing_number is not None:
            raise ValueError("existing_number is for the mode forward")
        return self


class QuickConnectResponse(BaseModel):
    phone_number_id: int
    phone_number: str
    mode: Literal["forward", "new"]
    status: Literal["active"]
    is_primary: bool
    forward_to: str | None
    instructions: str | None
    workflow_id: int | None


@router.get("/carrier-lookup", response_model=CarrierLookupResponse, operation_id="carrier_lookup")
async def carrier_lookup(
    org: CurrentOrg,
    lookup: Annotated[CarrierLookup, Depends(use_service(CarrierLookup))],
    number: Annotated[str, Query(min_length=1, max_length=64, description="E.164, as in +12015550101")],
) -> dict[str, Any]:
    """Carrier and line type of a number; one that cannot exist is 422."""
    return await lookup.look_up(org.organization_id, number)


@router.get(
    "/available-numbers",
    response_model=AvailableNumbersResponse,
    operation_id="available_numbers",
    responses=error_responses(502),
)
async def available_numbers(
    org: CurrentOrg,
    managed: ManagedNumbersDep,
    country: Annotated[CountryCode, Query(description="ISO 3166-1 alpha-2")],
    area_code: Annotated[AreaCode | None, Query()] = None,
) -> dict[str, Any]:
    """Numbers that quick-connect can buy."""
    found = await managed.search_for_sale(org.organization_id, country, area_code)
    return {"numbers": found, "country": country, "area_code": area_code}


@router.post(
    "/quick-connect", response_model=QuickConnectResponse, operation_id="quick_connect", responses=error_responses(502)
)
async def quick_connect(
    body: QuickConnectRequest,
    org: RequireAdmin,
    managed: ManagedNumbersDep,
    calls: Annotated[OutboundCalls, Depends(use_service(OutboundCalls))],
    key: IdempotencyHeader = None,
) -> dict[str, Any]:
    """Buys a number and lets an agent answer it. What fails after the purchase is
    finished or given back."""
    wish = PurchaseRequest(**body.model_dump())

    async def buy_and_connect() -> dict[str, Any]:
        return await managed.quick_connect(org, wish)

    return await run_idempotent(
        calls.db,
        organization_id=org.organization_id,
        scope="quick-connect",
        key=key,
        body=body.model_dump(mode="json"),
        action=buy_and_connect,
    )


@router.delete(
    "/managed-numbers/{phone_number_id}",
    status_code=204,
    response_class=Response,
    response_model=None,
    operation_id="release_managed_number",
    responses=error_responses(502),
)
async def release_managed_number(phone_number_id: Id, org: RequireAdmin, managed: ManagedNumbersDep) -> None:
    """Releases the number to its carrier and removes its records."""
    await managed.release_number(org, phone_number_id)
