"""Looking up numbers, and buying them with the platform's own account, over HTTP."""

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import ConfigDict, Field, StringConstraints, model_validator

from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.phone_numbers import E164, CountryCode
from offhook.kit.schema import Schema
from offhook.orgs import CurrentOrg, ReadTransaction, RequireAdmin, RequireMember
from offhook.orgs.idempotency import IdempotencyHeader
from offhook.telephony.accounts.number_lookup import NumberReport
from offhook.telephony.accounts.number_offers import ConnectedNumber, PurchaseRequest
from offhook.telephony.calls.schemas import RowId
from offhook.telephony.services import Services

AreaCode = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^\d{1,6}$")]

router = Router(prefix="/telephony", tags=["telephony"])


class CarrierLookupResponse(Schema):
    """``source``: the carrier that was asked, or ``offline`` for the numbering plan, which knows no carrier."""

    number: str
    e164: str
    valid: bool
    country_code: str | None
    carrier: str | None
    line_type: Literal["mobile", "landline", "voip", "toll_free", "premium", "unknown"]
    time_zones: list[str]
    source: str


class AvailableNumberResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    phone_number: str
    friendly_name: str
    locality: str | None
    region: str | None
    country: str
    number_type: str
    capabilities: list[str]
    monthly_cost_cents: int | None


class AvailableNumbersResponse(Schema):
    numbers: list[AvailableNumberResponse]
    country: str
    area_code: str | None
    is_simulated: bool = Field(description="The numbers are simulated: no real phone can reach them")


class QuickConnectRequest(Schema):
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
            raise ValueError("existing_number is required for the mode forward")
        if self.mode == "new" and self.existing_number is not None:
            raise ValueError("existing_number is only allowed for the mode forward")
        return self


class QuickConnectResponse(Schema):
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
    org: RequireMember,
    _read: ReadTransaction,
    services: Services,
    number: Annotated[str, Query(min_length=1, max_length=64, description="E.164, for example +12015550101")],
) -> NumberReport:
    """Returns the carrier and line type of a number. A look-up with the installation's carrier account is charged. A
    number that cannot exist is 422."""
    return await services.lookup.look_up(org.organization_id, number)


@router.get(
    "/available-numbers",
    response_model=AvailableNumbersResponse,
    operation_id="available_numbers",
    responses=error_responses(502),
)
async def available_numbers(
    org: CurrentOrg,
    _read: ReadTransaction,
    services: Services,
    country: Annotated[CountryCode, Query(description="ISO 3166-1 alpha-2")],
    area_code: Annotated[AreaCode | None, Query()] = None,
) -> AvailableNumbersResponse:
    """Lists numbers that quick-connect can buy."""
    offers = await services.managed_numbers.search_for_sale(org.organization_id, country, area_code)
    numbers = [AvailableNumberResponse.model_validate(offer) for offer in offers]
    return AvailableNumbersResponse(
        numbers=numbers,
        country=country,
        area_code=area_code,
        is_simulated=services.managed_numbers.is_simulated(org.organization_id),
    )


@router.post(
    "/quick-connect", response_model=QuickConnectResponse, operation_id="quick_connect", responses=error_responses(502)
)
async def quick_connect(
    body: QuickConnectRequest, org: RequireAdmin, services: Services, key: IdempotencyHeader = None
) -> ConnectedNumber:
    """Buys a number and lets an agent answer it. A purchase that fails afterwards is completed later or refunded."""
    request = PurchaseRequest(**body.model_dump())
    return await services.managed_numbers.quick_connect_once(org, request, key, body.model_dump(mode="json"))


@router.delete(
    "/managed-numbers/{phone_number_id}",
    status_code=204,
    response_class=Response,
    response_model=None,
    operation_id="release_managed_number",
    responses=error_responses(502),
)
async def release_managed_number(phone_number_id: Id, org: RequireAdmin, services: Services) -> None:
    """Returns the number to its carrier and removes its records."""
    await services.managed_numbers.release_number(org, phone_number_id)
