"""Carrier accounts and their phone numbers over HTTP."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id
from offhook.orgs import CurrentOrg, RequireAdmin
from offhook.root import use_service
from offhook.telephony.accounts.account_numbers import AccountNumbers, NewNumber, NumberView
from offhook.telephony.accounts.schemas import (
    PhoneNumberCreate,
    PhoneNumberList,
    PhoneNumberResponse,
    PhoneNumberUpdate,
    ProviderSyncResponse,
    TelephonyConfigCreate,
    TelephonyConfigList,
    TelephonyConfigResponse,
    TelephonyConfigUpdate,
    TelephonyDeletedResponse,
    TelephonyProvidersResponse,
    TelephonyWarningsResponse,
)
from offhook.telephony.accounts.service import CarrierConfigurations, ConfigurationView
from offhook.telephony.ports import CarrierSpec

ConfigurationsDep = Annotated[CarrierConfigurations, Depends(use_service(CarrierConfigurations))]
AccountNumbersDep = Annotated[AccountNumbers, Depends(use_service(AccountNumbers))]
Verify = Annotated[bool, Query(description="Ask the carrier whether it takes this before it is saved")]

router = APIRouter(prefix="/organizations", tags=["telephony accounts"])
_CONFIG = "/telephony-configs/{configuration_id}"
_NUMBER = "/telephony-configs/{configuration_id}/phone-numbers/{phone_number_id}"


@router.get(
    "/telephony-providers/metadata",
    response_model=TelephonyProvidersResponse,
    operation_id="get_telephony_providers_metadata",
)
async def providers_metadata(org: CurrentOrg, accounts: ConfigurationsDep) -> dict[str, Any]:
    """Every carrier that an account can be made of, with the fields of its form and what it can do."""
    return {"providers": [_render_provider(spec) for spec in accounts.list_configurable()]}


def _render_provider(spec: CarrierSpec) -> dict[str, Any]:
    assert spec.account.config is not None
    can_wait = spec.calls.transferrer is not None or spec.calls.transfer_legs is not None
    return {
        "provider": spec.name,
        "display_name": spec.account.config.display_name,
        "fields": list(spec.account.config.fields),
        "docs_url": spec.account.config.docs_url or None,
        "can_dial": spec.calls.dialer is not None,
        "can_sell_numbers": spec.numbers.catalog is not None,
        "can_look_up": spec.numbers.lookup is not None,
        "transfers": ["warm"] * can_wait + ["blind"] * (spec.calls.blind_transfer is not None),
    }


@router.get(
    "/telephony-config-warnings", response_model=TelephonyWarningsResponse, operation_id="get_telephony_config_warnings"
)
async def config_warnings(org: CurrentOrg, accounts: ConfigurationsDep) -> dict[str, int]:
    """What accounts lack without which the carrier's webhooks cannot be believed."""
    return await accounts.count_missing_fields(org.organization_id)


@router.get("/telephony-configs", response_model=TelephonyConfigList, operation_id="list_telephony_configs")
async def list_configurations(org: CurrentOrg, accounts: ConfigurationsDep) -> dict[str, Any]:
    """The organization's carrier accounts. The sandbox needs none."""
    return {"configurations": await accounts.list_configurations(org.organization_id)}


@router.post(
    "/telephony-configs",
    response_model=TelephonyConfigResponse,
    operation_id="create_telephony_config",
    responses=error_responses(502),
)
async def create_configuration(
    body: TelephonyConfigCreate, org: RequireAdmin, accounts: ConfigurationsDep, verify: Verify = True
) -> ConfigurationView:
    """Secrets are stored encrypted and never shown again."""
    return await accounts.create(org, body.name, body.config, is_default=body.is_default_outbound, verify=verify)


@router.get(_CONFIG, response_model=TelephonyConfigResponse, operation_id="get_telephony_config")
async def get_configuration(configuration_id: Id, org: CurrentOrg, accounts: ConfigurationsDep) -> ConfigurationView:
    return await accounts.get(org.organization_id, configuration_id)


@router.put(
    _CONFIG,
    response_model=TelephonyConfigResponse,
    operation_id="update_telephony_config",
    responses=error_responses(400, 502),
)
async def update_configuration(
    configuration_id: Id,
    body: TelephonyConfigUpdate,
    org: RequireAdmin,
    accounts: ConfigurationsDep,
    verify: Verify = True,
) -> ConfigurationView:
    """The carrier cannot be changed (400)."""
    return await accounts.update(org, configuration_id, body.name, body.config, verify=verify)


@router.delete(_CONFIG, response_model=TelephonyDeletedResponse, operation_id="delete_telephony_config")
async def delete_configuration(configuration_id: Id, org: RequireAdmin, accounts: ConfigurationsDep) -> dict[str, Any]:
    """Its numbers go with it; refused while a campaign runs with it."""
    await accounts.delete(org, configuration_id)
    return {"success": True, "id": configuration_id}


@router.post(
    f"{_CONFIG}/set-default-outbound",
    response_model=TelephonyConfigResponse,
    operation_id="set_default_telephony_config",
)
async def set_default(configuration_id: Id, org: RequireAdmin, accounts: ConfigurationsDep) -> ConfigurationView:
    """Calls leave by this account unless another is named."""
    return await accounts.set_default(org, configuration_id)


@router.post(
    f"{_CONFIG}/reactivate",
    response_model=TelephonyConfigResponse,
    operation_id="reactivate_telephony_config",
    responses=error_responses(502),
)
async def reactivate(configuration_id: Id, org: RequireAdmin, accounts: ConfigurationsDep) -> ConfigurationView:
    """An account that was switched off is used again, if its carrier takes it now."""
    return await accounts.reactivate(org, configuration_id)


@router.get(f"{_CONFIG}/phone-numbers", response_model=PhoneNumberList, operation_id="list_telephony_phone_numbers")
async def list_numbers(configuration_id: Id, org: CurrentOrg, numbers: AccountNumbersDep) -> dict[str, Any]:
    found = await numbers.list_numbers(org.organization_id, configuration_id)
    return {"phone_numbers": [_render_number(one) for one in found]}


@router.post(
    f"{_CONFIG}/phone-numbers",
    response_model=PhoneNumberResponse,
    operation_id="create_telephony_phone_number",
    responses=error_responses(400, 502),
)
async def create_number(
    configuration_id: Id, body: PhoneNumberCreate, org: RequireAdmin, numbers: AccountNumbersDep, verify: Verify = False
) -> PhoneNumberResponse:
    """With an agent, the carrier is told to send the number's calls here: `provider_sync` says whether it does."""
    return _render_number(await numbers.add(org, configuration_id, NewNumber(**body.model_dump()), verify=verify))


@router.get(_NUMBER, response_model=PhoneNumberResponse, operation_id="get_telephony_phone_number")
async def get_number(
    configuration_id: Id, phone_number_id: Id, org: CurrentOrg, numbers: AccountNumbersDep
) -> PhoneNumberResponse:
    return _render_number(await numbers.get(org.organization_id, configuration_id, phone_number_id))


@router.put(_NUMBER, response_model=PhoneNumberResponse, operation_id="update_telephony_phone_number")
async def update_number(
    configuration_id: Id, phone_number_id: Id, body: PhoneNumberUpdate, org: RequireAdmin, numbers: AccountNumbersDep
) -> PhoneNumberResponse:
    return _render_number(await numbers.update(org, configuration_id, phone_number_id, body.changed_fields()))


@router.delete(_NUMBER, response_model=TelephonyDeletedResponse, operation_id="delete_telephony_phone_number")
async def delete_number(
    configuration_id: Id, phone_number_id: Id, org: RequireAdmin, numbers: AccountNumbersDep
) -> dict[str, Any]:
    """The carrier keeps it; refused while a campaign runs with the account."""
    await numbers.remove(org, configuration_id, phone_number_id)
    return {"success": True, "id": phone_number_id}


@router.post(
    f"{_NUMBER}/set-default-caller",
    response_model=PhoneNumberResponse,
    operation_id="set_default_caller_phone_number",
)
async def set_default_caller(
    configuration_id: Id, phone_number_id: Id, org: RequireAdmin, numbers: AccountNumbersDep
) -> PhoneNumberResponse:
    """Calls by this account come from this number."""
    return _render_number(await numbers.update(org, configuration_id, phone_number_id, {"is_default_caller_id": True}))


def _render_number(view: NumberView) -> PhoneNumberResponse:
    shown = PhoneNumberResponse.model_validate(view.row)
    shown.inbound_workflow_name = view.inbound_workflow_name
    if view.provider_sync is not None:
        shown.provider_sync = ProviderSyncResponse.model_validate(view.provider_sync)
    return shown
