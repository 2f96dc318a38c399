"""Telnyx's managed accounts: keys of their own for requests and for webhooks, whose bills the manager account pays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, get_setting
from offhook.telephony.ports import CarrierAccount, CarrierFailed, SubAccount
from offhook.telephony.providers.telnyx.api import TelnyxApi

_ACCOUNTS: Final = "/managed_accounts"
_APPLICATIONS: Final = "/call_control_applications"
_PROFILES: Final = "/outbound_voice_profiles"
# What a profile of the manager account says about calls and that the one of a managed account repeats.
_LIMITS: Final = (
    "traffic_type",
    "service_plan",
    "concurrent_call_limit",
    "max_destination_rate",
    "daily_spend_limit",
    "daily_spend_limit_enabled",
    "whitelisted_destinations",
)
_PAGE: Final = "250"


class TelnyxSubAccounts:
    """Implements ``SubAccountManager``. A managed account gets an application, which names it in webhooks, and a profile
    for outbound calls with the limits of the manager account's."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TelnyxApi(http)

    async def check_parent(self, parent: CarrierAccount) -> None:
        """Only accounts that Telnyx has approved as managers can have managed accounts."""
        await self._api.send_request(parent, "GET", _ACCOUNTS, params={"page[size]": "1"})

    async def find_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount | None:
        # Oldest first.
        params = {"filter[organization_name][eq]": name, "sort": "created_at", "page[size]": _PAGE}
        found = await self._find_named(parent, _ACCOUNTS, "organization_name", name, params)
        if found is None:
            return None
        read = await self._api.send_request(parent, "GET", f"{_ACCOUNTS}/{quote(found, safe='')}")
        return await self._complete(parent, found, read.require_text("data", "api_key"), name)

    async def create_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount:
        body = {"business_name": name, "rollup_billing": True}
        made = await self._api.send_request(parent, "POST", _ACCOUNTS, body)
        return await self._complete(parent, made.require_text("data", "id"), made.require_text("data", "api_key"), name)

    async def close_sub_account(self, parent: CarrierAccount, reference: str) -> None:
        """Disables it; Telnyx deletes none."""
        path = f"{_ACCOUNTS}/{quote(reference, safe='')}/actions/disable"
        await self._api.send_request(parent, "POST", path, may_be_gone=True)

    # helpers

    async def _complete(self, parent: CarrierAccount, reference: str, api_key: str, name: str) -> SubAccount:
        """Returns the account with what its calls need, which is created unless an earlier attempt has done that."""
        own = replace(parent, config={"api_key": api_key})
        public_key = (await self._api.send_request(own, "GET", "/public_key")).require_text("data", "public")
        application_id = await self._find_named(own, _APPLICATIONS, "application_name", name)
        if application_id is None:
            body = await self._describe_application(parent, own, name)
            application_id = (await self._api.send_request(own, "POST", _APPLICATIONS, body)).require_text("data", "id")
        return SubAccount(
            reference, {"api_key": api_key, "connection_id": application_id, "webhook_public_key": public_key}
        )

    async def _describe_application(self, parent: CarrierAccount, own: CarrierAccount, name: str) -> dict[str, Any]:
        """Returns the application to create: events go where those of the manager account's go."""
        model = await self._read_resource(parent, _APPLICATIONS, get_setting(parent, "connection_id"))
        outbound = model.get("outbound")
        model_profile = outbound.get("outbound_voice_profile_id") if isinstance(outbound, dict) else None
        profile_id = await self._find_named(own, _PROFILES, "name", name)
        if profile_id is None:
            limits = await self._read_resource(parent, _PROFILES, model_profile)
            body = {"name": name, **{field: limits[field] for field in _LIMITS if limits.get(field) is not None}}
            profile_id = (await self._api.send_request(own, "POST", _PROFILES, body)).require_text("data", "id")
        return {
            "application_name": name,
            "webhook_event_url": model.get("webhook_event_url") or "",
            "webhook_api_version": "2",
            "outbound": {"outbound_voice_profile_id": profile_id},
        }

    async def _read_resource(self, account: CarrierAccount, path: str, resource_id: object) -> Mapping[str, Any]:
        """Returns a resource of the account; an empty one where there is none."""
        if not isinstance(resource_id, str | int) or resource_id == "":
            return {}
        answer = await self._api.send_request(
            account, "GET", f"{path}/{quote(str(resource_id), safe='')}", may_be_gone=True
        )
        found = answer.json().get("data")
        return found if isinstance(found, dict) else {}

    async def _find_named(
        self, account: CarrierAccount, path: str, field: str, name: str, params: Mapping[str, str] | None = None
    ) -> str | None:
        """Returns the id of the first resource with this name. Raises CarrierFailed when the list is unreadable."""
        answer = await self._api.send_request(account, "GET", path, params=params or {"page[size]": _PAGE})
        listed = answer.json().get("data")
        if not isinstance(listed, list):
            raise CarrierFailed("carrier_cannot_say", "Telnyx's answer has no list.", retryable=True)
        named = (one for one in listed if isinstance(one, dict) and one.get(field) == name)
        return next((str(one["id"]) for one in named if one.get("id")), None)
