"""Vonage's phone numbers, its application, look-ups, and the check of the credentials."""

import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number
from offhook.telephony.carrier_kit.forms import parse_e164, strip_plus
from offhook.telephony.carrier_kit.http import CarrierHttp, require_setting
from offhook.telephony.carrier_kit.line_types import line_type, parse_cents
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, LookupResult
from offhook.telephony.providers.vonage.api import GONE, VonageApi, application_token

_KINDS: Final = {"landline": "local", "mobile-lvn": "mobile", "landline-toll-free": "toll_free"}
# Fields of an application's description that Vonage owns and that we must not send back.
_NOT_SENT: Final = frozenset({"id", "_links"})


class VonageNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting``, ``NumberLookup`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VonageApi(http)

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        params = {"country": country, "features": "VOICE", "size": str(min(100, limit))}
        if number or area_code:
            # An area code follows the country code; searching for the digits anywhere is the closest match.
            params |= {"pattern": strip_plus(number or area_code or ""), "search_pattern": "1"}
        found = (await self._api.request_numbers(account, "GET", "/number/search", params=params)).get("numbers")
        entries = found if isinstance(found, list) else []
        return [_parse_offer(entry, country) for entry in entries[:limit] if isinstance(entry, dict)]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        """Buys the number, which is its own id."""
        await self._api.request_numbers(account, "POST", "/number/buy", form=_order_form(number, country))
        return strip_plus(number)

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        entry = await self._find_owned_entry(account, number)
        return strip_plus(number) if entry is not None else None

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        entry = await self._find_owned_entry(account, number)
        if entry is not None:
            order = _order_form(number, str(entry.get("country") or _country_of(number)))
            await self._api.request_numbers(account, "POST", "/number/cancel", form=order)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        entry = await self._find_owned_entry(account, number)
        if entry is None:
            raise CarrierFailed("not_found", f"This Vonage account has no number {number}.", retryable=True)
        order = _order_form(number, str(entry.get("country") or _country_of(number)))
        order["app_id"] = require_setting(account, "application_id")
        await self._api.request_numbers(account, "POST", "/number/update", form=order)
        await self._point_application(account, inbound_url)

    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult:
        reported_carrier = (await self._api.request_insights(account, number)).get("current_carrier")
        carrier = reported_carrier if isinstance(reported_carrier, dict) else {}
        name = carrier.get("name")
        return LookupResult(name if isinstance(name, str) and name else None, line_type(carrier.get("network_type")))

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        application_token(account, time.time())
        if (await self._api.request_application(account)).status == GONE:
            wrong = require_setting(account, "application_id")
            raise CarrierFailed("carrier_misconfigured", f"Vonage has no application {wrong}.", retryable=False)
        return {}

    async def _find_owned_entry(self, account: CarrierAccount, number: str) -> dict[str, Any] | None:
        params = {"pattern": strip_plus(number), "search_pattern": "1"}
        found = (await self._api.request_numbers(account, "GET", "/account/numbers", params=params)).get("numbers")
        for entry in found if isinstance(found, list) else []:
            if isinstance(entry, dict) and parse_e164(entry.get("msisdn")) == number:
                return entry
        return None

    async def _point_application(self, account: CarrierAccount, inbound_url: str) -> None:
        """Replaces the application as a whole. Its events go to the account's event address, all of them signed."""
        known = (await self._api.request_application(account)).json()
        capabilities = known.get("capabilities") if isinstance(known.get("capabilities"), dict) else {}
        assert isinstance(capabilities, dict)
        voice = {
            **(capabilities.get("voice") or {}),
            "webhooks": {
                "answer_url": {"address": inbound_url, "http_method": "POST"},
                "event_url": {"address": urljoin(inbound_url, "../vonage/events"), "http_method": "POST"},
            },
            "signed_callbacks": True,
        }
        if capabilities.get("voice") != voice:
            body = {name: value for name, value in known.items() if name not in _NOT_SENT}
            body["capabilities"] = {**capabilities, "voice": voice}
            await self._api.request_application(account, "PUT", body)


def _order_form(number: str, country: str) -> dict[str, str | list[str]]:
    return {"country": country, "msisdn": strip_plus(number)}


def _country_of(number: str) -> str:
    try:
        return parse_phone_number(number).country or ""
    except PhoneNumberInvalid:
        return ""


def _parse_offer(entry: Mapping[str, Any], country: str) -> AvailableNumber:
    phone_number = parse_e164(entry.get("msisdn")) or ""
    reported_features = entry.get("features")
    features = {str(name).lower() for name in reported_features} if isinstance(reported_features, list) else {"voice"}
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=phone_number,
        country=str(entry.get("country") or country),
        number_type=_KINDS.get(str(entry.get("type") or ""), "local"),
        capabilities=tuple(name for name in ("voice", "sms") if name in features),
        monthly_cost_cents=parse_cents(entry.get("cost")),
    )
