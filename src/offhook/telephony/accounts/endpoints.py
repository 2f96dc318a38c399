"""Carrier accounts and their phone numbers over HTTP."""

from typing import Annotated, Literal

from fastapi import Query

from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, ReadTransaction, RequireAdmin
from offhook.telephony.accounts.account_numbers import NewNumber, NumberView
from offhook.telephony.accounts.schemas import (
    PhoneNumberCreate,
    PhoneNumberList,
    PhoneNumberResponse,
    PhoneNumberUpdate,
    ProviderSyncResponse,
    TelephonyConfigCreate,
    TelephonyConfigItem,
    TelephonyConfigList,
    TelephonyConfigResponse,
    TelephonyConfigUpdate,
    TelephonyDeletedResponse,
    TelephonyFieldResponse,
    TelephonyProviderResponse,
    TelephonyProvidersResponse,
    TelephonyWarningsResponse,
)
from offhook.telephony.accounts.service import ConfigurationView
from offhook.telephony.ports import CarrierSpec
from offhook.telephony.services import Services

Verify = Annotated[bool, Query(description="Check with the carrier before saving")]

router = Router(prefix="/organizations", tags=["telephony accounts"])
_CONFIG = "/telephony-configs/{configuration_id}"
_NUMBER = "/telephony-configs/{configuration_id}/phone-numbers/{phone_number_id}"


@router.get(
    "/telephony-providers/metadata",
    response_model=TelephonyProvidersResponse,
    operation_id="get_telephony_providers_metadata",
)
async def providers_metadata(org: CurrentOrg, services: Services) -> TelephonyProvidersResponse:
    """Lists the carriers that accounts can be created for, with their form fields and features."""
    return TelephonyProvidersResponse(
        providers=[_render_provider(spec) for spec in services.configurations.list_configurable()]
    )


def _render_provider(spec: CarrierSpec) -> TelephonyProviderResponse:
    config = spec.account.config
    assert config is not None
    transfers: list[Literal["warm", "blind"]] = ["warm"] if spec.calls.has_warm_transfer else []
    if spec.calls.blind_transfer is not None:
        transfers.append("blind")
    return TelephonyProviderResponse(
        provider=spec.name,
        display_name=config.display_name,
        fields=[TelephonyFieldResponse.model_validate(field) for field in config.fields],
        docs_url=config.docs_url or None,
        can_dial=spec.calls.dialer is not None,
        can_sell_numbers=spec.numbers.catalog is not None,
        can_look_up=spec.numbers.lookup is not None,
        transfers=transfers,
    )


@router.get(
    "/telephony-config-warnings", response_model=TelephonyWarningsResponse, operation_id="get_telephony_config_warnings"
)
async def config_warnings(org: CurrentOrg, _read: ReadTransaction, services: Services) -> TelephonyWarningsResponse:
    """Counts missing account settings that are required to verify webhooks."""
    counts = await services.configurations.count_missing_fields(org.organization_id)
    return TelephonyWarningsResponse.model_validate(counts)


@router.get("/telephony-configs", response_model=TelephonyConfigList, operation_id="list_telephony_configs")
async def list_configurations(org: CurrentOrg, _read: ReadTransaction, services: Services) -> TelephonyConfigList:
    """Lists the organization's carrier accounts."""
    views = await services.configurations.list_configurations(org.organization_id)
    return TelephonyConfigList(configurations=[TelephonyConfigItem.model_validate(view) for view in views])


@router.post(
    "/telephony-configs",
    response_model=TelephonyConfigResponse,
    operation_id="create_telephony_config",
    responses=error_responses(502),
)
async def create_configuration(
    body: TelephonyConfigCreate, org: RequireAdmin, services: Services, verify: Verify = True
) -> ConfigurationView:
    """Adds a carrier account. Secrets are stored encrypted and never shown again."""
    return await services.configurations.create(
        org, body.name, body.config, is_default=body.is_default_outbound, verify=verify
    )


@router.get(_CONFIG, response_model=TelephonyConfigResponse, operation_id="get_telephony_config")
async def get_configuration(
    configuration_id: Id, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> ConfigurationView:
    return await services.configurations.get(org.organization_id, configuration_id)


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
    services: Services,
    verify: Verify = True,
) -> ConfigurationView:
    """Changes a carrier account. Its carrier cannot be changed (400)."""
    return await services.configurations.update(org, configuration_id, body.name, body.config, verify=verify)


@router.delete(_CONFIG, response_model=TelephonyDeletedResponse, operation_id="delete_telephony_config")
async def delete_configuration(configuration_id: Id, org: RequireAdmin, services: Services) -> TelephonyDeletedResponse:
    """Deletes the account and its numbers. Returns 409 while a running campaign uses it."""
    await services.configurations.delete(org, configuration_id)
    return TelephonyDeletedResponse(success=True, id=configuration_id)


@router.post(
    f"{_CONFIG}/set-default-outbound",
    response_model=TelephonyConfigResponse,
    operation_id="set_default_telephony_config",
)
async def set_default(configuration_id: Id, org: RequireAdmin, services: Services) -> ConfigurationView:
    """Makes this the account for calls that do not name one."""
    return await services.configurations.set_default(org, configuration_id)


@router.post(
    f"{_CONFIG}/reactivate",
    response_model=TelephonyConfigResponse,
    operation_id="reactivate_telephony_config",
    responses=error_responses(502),
)
async def reactivate(configuration_id: Id, org: RequireAdmin, services: Services) -> ConfigurationView:
    """Reactivates an account that was switched off, if the carrier accepts its credentials."""
    return await services.configurations.reactivate(org, configuration_id)


@router.get(f"{_CONFIG}/phone-numbers", response_model=PhoneNumberList, operation_id="list_telephony_phone_numbers")
async def list_numbers(
    configuration_id: Id, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> PhoneNumberList:
    views = await services.numbers.list_numbers(org.organization_id, configuration_id)
    return PhoneNumberList(phone_numbers=[_render_number(view) for view in views])


@router.post(
    f"{_CONFIG}/phone-numbers",
    response_model=PhoneNumberResponse,
    operation_id="create_telephony_phone_number",
    responses=error_responses(400, 502),
)
async def create_number(
    configuration_id: Id, body: PhoneNumberCreate, org: RequireAdmin, services: Services, verify: Verify = True
) -> PhoneNumberResponse:
    """Adds a number of an account of your own. With an agent, the carrier must confirm that the account owns the
    number, and is asked to route its calls here; `provider_sync` reports the result."""
    return _render_number(
        await services.numbers.add(org, configuration_id, NewNumber(**body.model_dump()), verify=verify)
    )


@router.get(_NUMBER, response_model=PhoneNumberResponse, operation_id="get_telephony_phone_number")
async def get_number(
    configuration_id: Id, phone_number_id: Id, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> PhoneNumberResponse:
    return _render_number(await services.numbers.get(org.organization_id, configuration_id, phone_number_id))


@router.put(_NUMBER, response_model=PhoneNumberResponse, operation_id="update_telephony_phone_number")
async def update_number(
    configuration_id: Id, phone_number_id: Id, body: PhoneNumberUpdate, org: RequireAdmin, services: Services
) -> PhoneNumberResponse:
    return _render_number(await services.numbers.update(org, configuration_id, phone_number_id, body.changed_fields()))


@router.delete(_NUMBER, response_model=TelephonyDeletedResponse, operation_id="delete_telephony_phone_number")
async def delete_number(
    configuration_id: Id, phone_number_id: Id, org: RequireAdmin, services: Services
) -> TelephonyDeletedResponse:
    """Removes the number here; the carrier keeps it. Returns 409 while a running campaign uses the account."""
    await services.numbers.remove(org, configuration_id, phone_number_id)
    return TelephonyDeletedResponse(success=True, id=phone_number_id)


@router.post(
    f"{_NUMBER}/set-default-caller",
    response_model=PhoneNumberResponse,
    operation_id="set_default_caller_phone_number",
)
async def set_default_caller(
    configuration_id: Id, phone_number_id: Id, org: RequireAdmin, services: Services
) -> PhoneNumberResponse:
    """Makes this the default caller ID of the account."""
    return _render_number(
        await services.numbers.update(org, configuration_id, phone_number_id, {"is_default_caller_id": True})
    )


def _render_number(view: NumberView) -> PhoneNumberResponse:
    shown = PhoneNumberResponse.model_validate(view.row)
    shown.inbound_workflow_name = view.inbound_workflow_name
    if view.provider_sync is not None:
        shown.provider_sync = ProviderSyncResponse.model_validate(view.provider_sync)
    return shown
