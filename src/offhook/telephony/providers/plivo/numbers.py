"""Plivo's phone numbers, their application, look-ups, and the check of the credentials."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from offhook.kit.phone_numbers import national_digits
from offhook.telephony.carrier_kit.dialects.plivo.webhooks import name_account
from offhook.telephony.carrier_kit.forms import parse_e164, strip_plus
from offhook.telephony.carrier_kit.http import CarrierHttp, get_setting, require_setting
from offhook.telephony.carrier_kit.line_types import line_type, parse_cents
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, LookupResult
from offhook.telephony.providers.plivo.api import GONE, LOOKUP, PlivoApi

APPLICATION_NAME: Final = "Offhook"
_KINDS: Final = {
    "local": "local",
    "fixed": "local",
    "mobile": "mobile",
    "national": "national",
    "tollfree": "toll_free",
}


class PlivoNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting``, ``NumberLookup`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = PlivoApi(http)

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        params = {"country_iso": country, "services": "voice", "limit": str(min(20, limit))}
        if number or area_code:
            # Plivo puts the country's code before the pattern.
            params["pattern"] = national_digits(number) if number else area_code or ""
        found = (await self._api.send_request(account, "GET", "/PhoneNumber/", params=params)).json().get("objects")
        entries = found if isinstance(found, list) else []
        return [_parse_offer(entry, country) for entry in entries[:limit] if isinstance(entry, dict)]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        """Buys the number, which is its own id."""
        application_id = get_setting(account, "application_id")
        body = {"app_id": application_id} if application_id else {}
        await self._api.send_request(account, "POST", f"/PhoneNumber/{_quote_number(number)}/", body)
        return strip_plus(number)

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        answer = await self._api.send_request(account, "GET", f"/Number/{_quote_number(number)}/", may_be_gone=True)
        return None if answer.status == GONE else strip_plus(number)

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        await self._api.send_request(account, "DELETE", f"/Number/{_quote_number(number)}/", may_be_gone=True)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        application_id = require_setting(account, "application_id")
        await self._api.send_request(account, "POST", f"/Number/{_quote_number(number)}/", {"app_id": application_id})
        path = f"/Application/{quote(application_id, safe='')}/"
        known = (await self._api.send_request(account, "GET", path)).json()
        inbound_url = name_account(inbound_url, require_setting(account, "auth_id"))
        if known.get("answer_url") != inbound_url or known.get("answer_method") != "POST":
            await self._api.send_request(account, "POST", path, {"answer_url": inbound_url, "answer_method": "POST"})

    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult:
        url = f"{LOOKUP}/{quote(number, safe='+')}"
        found = (await self._api.send_request(account, "GET", url, params={"type": "carrier"})).json().get("carrier")
        carrier = found if isinstance(found, dict) else {}
        name = carrier.get("name")
        return LookupResult(name if isinstance(name, str) and name else None, line_type(carrier.get("type")))

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        application_id = get_setting(account, "application_id")
        if application_id is None:
            body = {"app_name": APPLICATION_NAME, "answer_url": inbound_url, "answer_method": "POST"}
            made = await self._api.send_request(account, "POST", "/Application/", body)
            return {"application_id": made.require_text("app_id")}
        path = f"/Application/{quote(application_id, safe='')}/"
        if (await self._api.send_request(account, "GET", path, may_be_gone=True)).status == GONE:
            raise CarrierFailed("carrier_misconfigured", f"Plivo has no application {application_id}.", retryable=False)
        return {}


def _quote_number(number: str) -> str:
    return quote(strip_plus(number), safe="")


def _parse_offer(entry: Mapping[str, Any], country: str) -> AvailableNumber:
    phone_number = parse_e164(entry.get("number")) or ""
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=phone_number,
        country=country,
        number_type=_KINDS.get(str(entry.get("sub_type") or entry.get("type") or "").lower(), "local"),
        locality=entry.get("city") or None,
        region=entry.get("region") or None,
        capabilities=tuple(name for name in ("voice", "sms") if entry.get(f"{name}_enabled", name == "voice")),
        monthly_cost_cents=parse_cents(entry.get("monthly_rental_rate")),
    )
