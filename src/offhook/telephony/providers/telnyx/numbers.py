"""Telnyx's phone numbers (search, buy, own, route to us, release, look up) and the application that carries calls."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, get_setting, require_setting
from offhook.telephony.carrier_kit.line_types import line_type, parse_cents
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, LookupResult
from offhook.telephony.providers.telnyx.api import TelnyxApi

APPLICATION_NAME: Final = "Offhook"
_APPLICATIONS: Final = "/call_control_applications"
_KINDS: Final = frozenset({"local", "mobile", "national", "toll_free"})


class TelnyxNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting``, ``NumberLookup`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TelnyxApi(http)

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        params = {"filter[country_code]": country, "filter[features][]": "voice", "filter[limit]": str(limit)}
        if area_code:
            params["filter[national_destination_code]"] = area_code
        if number:
            params["filter[phone_number][contains]"] = number.removeprefix("+")
        found = (
            (await self._api.send_request(account, "GET", "/available_phone_numbers", params=params)).json().get("data")
        )
        entries = found if isinstance(found, list) else []
        return [_parse_offer(entry, country) for entry in entries[:limit] if isinstance(entry, dict)]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        """Buys the number and returns the order's id; the number's own id is known once the order is complete
        (:meth:`find_owned`)."""
        body: dict[str, Any] = {"phone_numbers": [{"phone_number": number}]}
        if connection_id := get_setting(account, "connection_id"):
            body["connection_id"] = connection_id
        return (await self._api.send_request(account, "POST", "/number_orders", body)).require_text("data", "id")

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        params = {"filter[phone_number]": number}
        found = (await self._api.send_request(account, "GET", "/phone_numbers", params=params)).json().get("data")
        for entry in found if isinstance(found, list) else []:
            if isinstance(entry, dict) and entry.get("phone_number") == number and entry.get("id"):
                return str(entry["id"])
        return None

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        number_id = await self.find_owned(account, number)
        if number_id is not None:
            await self._api.send_request(
                account, "DELETE", f"/phone_numbers/{quote(number_id, safe='')}", may_be_gone=True
            )

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        connection_id = require_setting(account, "connection_id")
        number_id = await self.find_owned(account, number)
        if number_id is None:
            raise CarrierFailed("not_found", f"This Telnyx account has no number {number} yet.", retryable=True)
        path = f"/phone_numbers/{quote(number_id, safe='')}"
        await self._api.send_request(account, "PATCH", path, {"connection_id": connection_id})
        path = _application_path(connection_id)
        application = (await self._api.send_request(account, "GET", path)).json().get("data")
        known = application if isinstance(application, dict) else {}
        if known.get("webhook_event_url") != inbound_url:
            body = {
                "application_name": known.get("application_name") or APPLICATION_NAME,
                "webhook_event_url": inbound_url,
            }
            await self._api.send_request(account, "PATCH", path, body)

    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult:
        path = f"/number_lookup/{quote(number, safe='+')}"
        data = (await self._api.send_request(account, "GET", path, params={"type": "carrier"})).json().get("data")
        carrier = data.get("carrier") if isinstance(data, dict) else None
        known = carrier if isinstance(carrier, dict) else {}
        name = known.get("name")
        return LookupResult(name if isinstance(name, str) and name else None, line_type(known.get("type")))

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        connection_id = get_setting(account, "connection_id")
        if connection_id is None:
            body = {"application_name": APPLICATION_NAME, "webhook_event_url": inbound_url, "webhook_api_version": "2"}
            answer = await self._api.send_request(account, "POST", _APPLICATIONS, body)
            return {"connection_id": answer.require_text("data", "id")}
        if (
            await self._api.send_request(account, "GET", _application_path(connection_id), may_be_gone=True)
        ).status == 404:
            raise CarrierFailed("carrier_misconfigured", f"Telnyx has no application {connection_id}.", retryable=False)
        return {}


def _application_path(connection_id: str) -> str:
    return f"{_APPLICATIONS}/{quote(connection_id, safe='')}"


def _parse_offer(entry: Mapping[str, Any], country: str) -> AvailableNumber:
    places = entry.get("region_information")
    by_type = {
        str(place.get("region_type")): str(place.get("region_name"))
        for place in (places if isinstance(places, list) else [])
        if isinstance(place, dict)
    }
    features = entry.get("features")
    names = {
        str(part.get("name")) for part in (features if isinstance(features, list) else []) if isinstance(part, dict)
    }
    phone_number, kind = str(entry.get("phone_number", "")), str(entry.get("phone_number_type"))
    cost = entry.get("cost_information")
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=phone_number,
        country=by_type.get("country_code") or country,
        number_type=kind if kind in _KINDS else "local",
        locality=by_type.get("location") or by_type.get("rate_center"),
        region=by_type.get("state"),
        capabilities=tuple(name for name in ("voice", "sms", "fax") if name in names) or ("voice",),
        monthly_cost_cents=parse_cents(cost.get("monthly_cost")) if isinstance(cost, dict) else None,
    )
