"""Prices of models and carriers over HTTP."""

from typing import Annotated

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.routing import Router
from offhook.models.prices import service
from offhook.models.prices.schemas import (
    Day,
    Kind,
    Model,
    OwnPriceRequest,
    PriceItem,
    PriceListResponse,
    PriceRemoved,
    Provider,
)
from offhook.models.prices.services import Billing
from offhook.orgs import CurrentOrg, RequireAdmin

router = Router(prefix="/organizations/usage/prices", tags=["usage"])


@router.get("", response_model=PriceListResponse, operation_id="list_prices")
async def list_prices(org: CurrentOrg, session: Session) -> PriceListResponse:
    """Lists the prices of models and carriers for this organization."""
    return PriceListResponse(prices=await service.list_prices(session, org.organization_id))


@router.put("", response_model=PriceItem, operation_id="set_own_price")
async def set_price(body: OwnPriceRequest, org: RequireAdmin, session: Session, charging: Billing) -> PriceItem:
    """Sets the organization's own price from a day on. Requires a superuser when credit is enforced."""
    return await service.set_own_price(session, charging, org, body)


@router.delete("", response_model=PriceRemoved, operation_id="remove_own_price")
async def remove_price(
    org: RequireAdmin,
    session: Session,
    charging: Billing,
    kind: Annotated[Kind, Query()],
    provider: Annotated[Provider, Query()],
    valid_from: Annotated[Day, Query()],
    model: Annotated[Model, Query()] = "*",
) -> PriceRemoved:
    """Removes the organization's own price. Requires a superuser when credit is enforced."""
    await service.remove_own_price(
        session, charging, org, kind=kind, provider=provider, model=model, valid_from=valid_from
    )
    return PriceRemoved()
