"""Superuser endpoints of the platform's carrier account and its sub-accounts."""

from datetime import datetime
from typing import Literal

from fastapi import Response
from pydantic import ConfigDict, Field

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import RequireSuperuser
from offhook.orgs import superuser_queries as orgs
from offhook.telephony.accounts import superuser_queries
from offhook.telephony.accounts.sub_accounts import SubAccounts
from offhook.telephony.services import Services

router = Router(prefix="/superuser/managed-carrier", tags=["superuser"])


class ManagedCarrierResponse(Schema):
    """The account that organizations buy numbers with. ``account_reference`` is its name at the carrier, without
    secrets."""

    provider: str
    account_reference: str | None
    has_sub_accounts: bool = Field(description="The carrier has sub-accounts")
    uses_sub_accounts: bool


class ManagedCarrierUpdate(Schema):
    """``uses_sub_accounts``: each organization buys its numbers in its own sub-account from now on. Numbers that it
    already has stay where they are."""

    model_config = ConfigDict(extra="forbid")

    uses_sub_accounts: bool


class CarrierSubAccountItem(Schema):
    """``name`` is what the sub-account is called at the carrier, ``account_reference`` its id there. ``error``: why it was
    not created or closed."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    organization_id: int
    organization_name: str = ""
    provider: str
    parent_reference: str
    name: str
    account_reference: str | None
    state: Literal["creating", "active", "closing", "closed"]
    number_count: int = 0
    error: str | None
    created_at: datetime
    closed_at: datetime | None


@router.get("", response_model=ManagedCarrierResponse, operation_id="get_managed_carrier")
async def get_managed_carrier(caller: RequireSuperuser, session: Session, services: Services) -> ManagedCarrierResponse:
    """Returns the carrier account that the installation buys numbers with."""
    sub_accounts = services.sub_accounts
    is_on = await superuser_queries.uses_sub_accounts(session, sub_accounts.provider, sub_accounts.parent_reference)
    return _render_carrier(sub_accounts, is_on)


@router.patch(
    "", response_model=ManagedCarrierResponse, responses=error_responses(502), operation_id="update_managed_carrier"
)
async def update_managed_carrier(
    body: ManagedCarrierUpdate, caller: RequireSuperuser, services: Services
) -> ManagedCarrierResponse:
    """Turns sub-accounts on or off for the numbers that organizations buy from now on. Turning them on asks the
    carrier whether it allows them."""
    await services.sub_accounts.switch(caller, is_on=body.uses_sub_accounts)
    return _render_carrier(services.sub_accounts, body.uses_sub_accounts)


def _render_carrier(sub_accounts: SubAccounts, is_on: bool) -> ManagedCarrierResponse:
    return ManagedCarrierResponse(
        provider=sub_accounts.provider,
        account_reference=sub_accounts.parent_reference or None,
        has_sub_accounts=sub_accounts.manager is not None,
        uses_sub_accounts=is_on,
    )


@router.get("/sub-accounts", response_model=list[CarrierSubAccountItem], operation_id="list_carrier_sub_accounts")
async def list_carrier_sub_accounts(
    caller: RequireSuperuser, session: Session, response: Response, part: SliceParams
) -> list[CarrierSubAccountItem]:
    """Lists the sub-accounts of all organizations, newest first; `X-Total-Count` is the total number."""
    found, total = await superuser_queries.list_sub_accounts(session, limit=part.limit, offset=part.offset)
    set_total(response, total)
    names = await orgs.names_by_id(session, {row.organization_id for row, _ in found})
    items = []
    for row, numbers in found:
        item = CarrierSubAccountItem.model_validate(row)
        item.organization_name, item.number_count = names[row.organization_id], numbers
        items.append(item)
    return items
