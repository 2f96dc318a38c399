"""Twilio's phone numbers (search, buy, own, route to us, release, look up) and the check of the credentials."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, require_setting
from offhook.telephony.carrier_kit.line_types import line_type
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, LookupResult
from offhook.telephony.providers.twilio.api import GONE, LOOKUPS, TwilioApi

_KINDS: Final = {"Local": "local", "Mobile": "mobile", "TollFree": "toll_free"}


class TwilioNumbers:
    """Implements ``NumberCatalog``, ``NumberRouting``, ``NumberLookup`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TwilioApi(http)

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        """Searches local numbers first; countries without any have mobile or toll-free ones."""
        params = {"VoiceEnabled": "true", "PageSize": str(min(100, limit))}
        if area_code:
            # Twilio supports area codes of the North American plan only; elsewhere they are a prefix of the number.
            params |= {"AreaCode": area_code} if country in {"US", "CA"} else {"Contains": f"{area_code}*"}
        if number:
            params["Contains"] = number
        for kind, number_type in _KINDS.items():
            path = f"/AvailablePhoneNumbers/{quote(country, safe='')}/{kind}.json"
            answer = await self._api.send_request(account, "GET", path, params=params, may_be_gone=True)
            found = answer.json().get("available_phone_numbers")
            if answer.status != GONE and isinstance(found, list) and found:
                return [_parse_offer(entry, country, number_type) for entry in found[:limit]]
        return []

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        answer = await self._api.send_request(
            account, "POST", "/IncomingPhoneNumbers.json", form={"PhoneNumber": number}
        )
        return answer.require_text("sid")

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        answer = await self._api.send_request(
            account, "GET", "/IncomingPhoneNumbers.json", params={"PhoneNumber": number}
        )
        found = answer.json().get("incoming_phone_numbers")
        entries = found if isinstance(found, list) else []
        for entry in entries:
            if isinstance(entry, dict) and entry.get("phone_number") == number and entry.get("sid"):
                return str(entry["sid"])
        return None

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        sid = carrier_id or await self.find_owned(account, number)
        if sid is not None:
            await self._api.send_request(account, "DELETE", _number_path(sid), may_be_gone=True)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        sid = await self.find_owned(account, number)
        if sid is None:
            raise CarrierFailed("not_found", f"This Twilio account has no number {number}.", retryable=False)
        await self._api.send_request(
            account, "POST", _number_path(sid), form={"VoiceUrl": inbound_url, "VoiceMethod": "POST"}
        )

    async def look_up(self, account: CarrierAccount, number: str) -> LookupResult:
        url, params = f"{LOOKUPS}/{quote(number, safe='+')}", {"Fields": "line_type_intelligence"}
        found = (await self._api.send_request(account, "GET", url, params=params)).json().get("line_type_intelligence")
        line = found if isinstance(found, dict) else {}
        name = line.get("carrier_name")
        return LookupResult(name if isinstance(name, str) and name else None, line_type(line.get("type")))

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        status = (await self._api.send_request(account, "GET", ".json")).json().get("status")
        if status in {"suspended", "closed"}:
            raise CarrierFailed("unauthorized", f"This Twilio account is {status}.", retryable=False)
        require_setting(account, "auth_token")
        return {}


def _number_path(sid: str) -> str:
    return f"/IncomingPhoneNumbers/{quote(sid, safe='')}.json"


def _parse_offer(entry: dict[str, Any], country: str, number_type: str) -> AvailableNumber:
    can = entry.get("capabilities")
    abilities = {str(name).lower() for name, is_able in can.items() if is_able} if isinstance(can, dict) else {"voice"}
    phone_number = str(entry.get("phone_number", ""))
    return AvailableNumber(
        phone_number=phone_number,
        friendly_name=str(entry.get("friendly_name") or phone_number),
        country=str(entry.get("iso_country") or country),
        number_type=number_type,
        locality=entry.get("locality") or None,
        region=entry.get("region") or None,
        capabilities=tuple(name for name in ("voice", "sms", "fax") if name in abilities),
    )
