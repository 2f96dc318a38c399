"""Request and response models of the endpoints of carrier accounts and their numbers."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from offhook.kit.phone_numbers import CountryCode
from offhook.kit.schema import Schema
from offhook.telephony.calls.schemas import RowId

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)]


def _check_size(values: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(values)) > 64 * 1024:
        raise ValueError("this is limited to 65536 bytes")
    return values


Values = Annotated[dict[str, Any], AfterValidator(_check_size)]


class TelephonyFieldResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    name: str
    label: str
    kind: Literal["text", "secret", "multiline_secret", "boolean"]
    is_required: bool
    help: str


class TelephonyProviderResponse(Schema):
    provider: str
    display_name: str
    connectivity: Literal["api", "sip"] = "api"
    fields: list[TelephonyFieldResponse]
    docs_url: str | None
    can_dial: bool
    can_sell_numbers: bool
    can_look_up: bool
    transfers: list[Literal["warm", "blind"]]


class TelephonyProvidersResponse(Schema):
    providers: list[TelephonyProviderResponse]


class TelephonyWarningsResponse(Schema):
    """How many accounts lack the settings that verify their webhooks, by carrier and field."""

    model_config = ConfigDict(extra="allow")

    telnyx_missing_webhook_public_key_count: int = 0
    vonage_missing_signature_secret_count: int = 0


class TelephonyConfigCreate(Schema):
    """``config``: ``provider`` and the fields that its metadata name."""

    name: Name
    is_default_outbound: bool = False
    config: Values


class TelephonyConfigUpdate(Schema):
    """``config`` replaces the fields; a secret that is omitted or sent as its mask is kept."""

    name: Name | None = None
    config: Values | None = None


class TelephonyConfigItem(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    provider: str
    connectivity: str
    is_default_outbound: bool
    is_managed: bool
    inactive: bool
    inactive_since: datetime | None
    inactive_reason: str | None
    phone_number_count: int
    is_ready_for_outbound: bool
    outbound_blocked_reason: str | None
    created_at: datetime
    updated_at: datetime


class TelephonyConfigResponse(TelephonyConfigItem):
    """``credentials``: every field, secrets masked."""

    credentials: dict[str, Any]
    supports_trunks: bool = False


class TelephonyConfigList(Schema):
    configurations: list[TelephonyConfigItem]


class TelephonyDeletedResponse(Schema):
    success: bool
    id: int


class PhoneNumberCreate(Schema):
    """``address``: a phone number (E.164, or national with ``country_code``), a SIP URI or an extension."""

    address: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
    country_code: CountryCode | None = None
    label: Label | None = None
    inbound_workflow_id: RowId | None = None
    is_active: bool = True
    is_default_caller_id: bool = False
    extra_metadata: Values = Field(default_factory=dict)


class PhoneNumberUpdate(Schema):
    """Only the fields that are sent change; the address never does. ``clear_inbound_workflow`` removes the agent."""

    label: Label | None = None
    country_code: CountryCode | None = None
    inbound_workflow_id: RowId | None = None
    clear_inbound_workflow: bool = False
    is_active: bool | None = None
    is_default_caller_id: bool | None = None
    extra_metadata: Values | None = None

    def changed_fields(self) -> dict[str, Any]:
        """Returns the values to write; None means "not sent" except for the label."""
        sent = self.model_dump(exclude_unset=True, exclude={"clear_inbound_workflow"})
        changes = {name: value for name, value in sent.items() if value is not None or name == "label"}
        if self.clear_inbound_workflow:
            changes["inbound_workflow_id"] = None
        return changes


class ProviderSyncResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    ok: bool
    message: str


class PhoneNumberResponse(Schema):
    """``provider_sync``: whether the carrier now sends this number's calls here; null when nothing was to be set."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    telephony_configuration_id: int
    address: str
    address_normalized: str
    address_type: Literal["pstn", "sip_uri", "sip_extension"]
    country_code: str | None
    label: str | None
    inbound_workflow_id: int | None
    inbound_workflow_name: str | None = None
    is_active: bool
    is_default_caller_id: bool
    is_managed: bool
    is_primary: bool
    existing_number: str | None
    extra_metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    provider_sync: ProviderSyncResponse | None = None


class PhoneNumberList(Schema):
    phone_numbers: list[PhoneNumberResponse]
