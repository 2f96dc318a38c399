"""Vonage's phone numbers, its application, look-ups, and whether the credentials are right."""

import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone
from offhook.telephony.carrier_kit.forms import digits, e164
from offhook.telephony.carrier_kit.http import CarrierHttp, setting
from offhook.telephony.carrier_kit.line_types import cents, line_type
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, LookedUp
from offhook.telephony.providers.vonage.api import GONE, VonageApi, application_token

_KINDS: Final = {"landline": "local", "mobile-lvn": "mobile", "landline-toll-free": "toll_free"}
# Of an application's description: what is its own and not ours to send back.
_NOT_SENT: Final = frozenset({"id", "_links"})


class VonageNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting``, ``NumberLookup`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VonageApi(http)

    async def search(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        params = {"country": country, "features": "VOICE", "size": str(min(100, limit))}
        if number or area_code:
            # An area code stands behind the country's code: anywhere is as near as the search comes.
            params |= {"pattern": digits(number or area_code or ""), "search_pattern": "1"}
        found = (await self._api.numbers(account, "GET", "/number/search", params=params)).get("numbers")
        entries = found if isinstance(found, list) else []
        return [_available(entry, country) for entry in entries[:limit] if isinstance(entry, dict)]

    async def buy(self, account: CarrierAccount, number: str, country: str) -> str:
        """Numbers are their own ids."""
        await self._api.numbers(account, "POST", "/number/buy", form=_order(number, country))
        return digits(number)

    async def owned(self, account: CarrierAccount, number: str) -> str | None:
        entry = await self._owned(account, number)
        return digits(number) if entry is not None else None

    async def release(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        entry = await self._owned(account, number)
        if entry is not None:
            order = _order(number, str(entry.get("country") or _country(number)))
            await self._api.numbers(account, "POST", "/number/cancel", form=order)

    async def point(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        entry = await self._owned(account, number)
        if entry is None:
            raise CarrierFailed("not_found", f"This Vonage account has no number {number}.", retryable=True)
        order = _order(number, str(entry.get("country") or _country(number)))
        order["app_id"] = setting(account, "application_id")
        await self._api.numbers(account, "POST", "/number/update", form=order)
        await self._point_application(account, inbound_url)

    async def look_up(self, account: CarrierAccount, number: str) -> LookedUp:
        said = (await self._api.insights(account, number)).get("current_carrier")
        carrier = said if isinstance(said, dict) else {}
        name = carrier.get("name")
        return LookedUp(name if isinstance(name, str) and name else None, line_type(carrier.get("network_type")))

    async def check(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        application_token(account, time.time())
        if (await self._api.application(account)).status == GONE:
            wrong = setting(account, "application_id")
            raise CarrierFailed("carrier_misconfigured", f"Vonage has no application {wrong}.", retryable=False)
        return {}

    async def _owned(self, account: CarrierAccount, number: str) -> dict[str, Any] | None:
        params = {"pattern": digits(number), "search_pattern": "1"}
        found = (await self._api.numbers(account, "GET", "/account/numbers", params=params)).get("numbers")
        for entry in found if isinstance(found, list) else []:
            if isinstance(entry, dict) and e164(entry.get("msisdn")) == number:
                return entry
        return None

    async def _point_application(self, account: CarrierAccount, inbound_url: str) -> None:
        """An application is replaced whole. Its events come to where the account's events do, and all of it signed."""
        known = (await self._api.application(account)).json()
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
            await self._api.application(account, "PUT", body)


def _order(number: str, country: str) -> dict[str, str | list[str]]:
    return {"country": country, "msisdn": digits(number)}


def _country(number: str) -> str:
    try:
        return parse_phone(number).country or ""
    except PhoneNumberInvalid:
        return ""


def _available(entry: Mapping[str, Any], country: str) -> AvailableNumber:
    phone_number = e164(entry.get("msisdn")) or ""
    said = entry.get("features")
    features = {str(name).lower() for name in said} if isinstance(said, list) else {"voice"}
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=phone_number,
        country=str(entry.get("country") or country),
        number_type=_KINDS.get(str(entry.get("type") or ""), "local"),
        capabilities=tuple(name for name in ("voice", "sms") if name in features),
        monthly_cost_cents=cents(entry.get("cost")),
    )
