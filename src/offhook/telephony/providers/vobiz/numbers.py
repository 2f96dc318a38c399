"""Vobiz's phone numbers and their application, and the check of the credentials. Vobiz offers no look-ups."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.forms import parse_e164, strip_plus
from offhook.telephony.carrier_kit.http import CarrierHttp, get_setting, require_setting
from offhook.telephony.carrier_kit.line_types import parse_cents
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed
from offhook.telephony.providers.vobiz.api import CURRENCY, GONE, VobizApi

APPLICATION_NAME: Final = "Offhook"


class VobizNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VobizApi(http)

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        entries = await self._list_inventory(account, country, strip_plus(number or area_code or ""))
        return [_parse_offer(entry, country) for entry in entries[:limit]]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        offered = await self._list_inventory(account, country, strip_plus(number))
        entry = next((entry for entry in offered if parse_e164(entry.get("e164")) == number), {})
        body = {"e164": number, "currency": str(entry.get("currency") or CURRENCY)}
        await self._api.send_request(account, "POST", "/numbers/purchase-from-inventory", body)
        return number

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        answer = await self._api.send_request(
            account, "GET", "/numbers", params={"search": strip_plus(number), "per_page": "100"}
        )
        return number if any(parse_e164(entry.get("e164")) == number for entry in _read_items(answer.json())) else None

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        """Releases the number, which takes effect a day later and can be undone at Vobiz until then."""
        await self._api.send_request(account, "DELETE", f"/numbers/{quote(number, safe='')}", may_be_gone=True)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        application_id = require_setting(account, "application_id")
        path = f"/numbers/{quote(number, safe='')}/application"
        await self._api.send_request(account, "POST", path, {"application_id": application_id})
        path = _application_path(application_id)
        known = (await self._api.send_request(account, "GET", path)).json()
        if known.get("answer_url") != inbound_url or known.get("answer_method") != "POST":
            await self._api.send_request(account, "POST", path, {"answer_url": inbound_url, "answer_method": "POST"})

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        application_id = get_setting(account, "application_id")
        if application_id is None:
            body = {"app_name": APPLICATION_NAME, "answer_url": inbound_url, "answer_method": "POST"}
            made = await self._api.send_request(account, "POST", "/Application/", body)
            return {"application_id": made.require_text("app_id")}
        if (
            await self._api.send_request(account, "GET", _application_path(application_id), may_be_gone=True)
        ).status == GONE:
            raise CarrierFailed("carrier_misconfigured", f"Vobiz has no application {application_id}.", retryable=False)
        return {}

    async def _list_inventory(self, account: CarrierAccount, country: str, search: str) -> list[dict[str, Any]]:
        params = {"country": country, **({"search": search} if search else {})}
        return _read_items((await self._api.send_request(account, "GET", "/inventory/numbers", params=params)).json())


def _application_path(application_id: str) -> str:
    return f"/Application/{quote(application_id, safe='')}/"


def _read_items(body: dict[str, Any]) -> list[dict[str, Any]]:
    items = body.get("items")
    return [entry for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []


def _parse_offer(entry: Mapping[str, Any], country: str) -> AvailableNumber:
    phone_number = parse_e164(entry.get("e164")) or ""
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=phone_number,
        country=str(entry.get("country") or country),
        number_type="local",
        locality=entry.get("city") or None,
        region=entry.get("region") or None,
        monthly_cost_cents=parse_cents(entry.get("monthly_fee")),
    )
