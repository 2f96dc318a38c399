"""Plivo's numbers, the account and look-ups."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_catalog import find_offers
from offhook_lab.carriers.core.number_formats import is_digits, with_plus, without_plus
from offhook_lab.carriers.core.rest import RestReply, RestRequest

if TYPE_CHECKING:
    from offhook_lab.carriers.plivo.server import PlivoEmulator


def add_routes(server: "PlivoEmulator", base: str) -> None:
    shop = _NumberRoutes(server)
    server.add_route("GET", f"{base}/", shop.get_account)
    server.add_route("GET", f"{base}/PhoneNumber/", shop.search_numbers)
    server.add_route("POST", f"{base}/PhoneNumber/{{number}}/", shop.buy_number)
    server.add_route("GET", f"{base}/Number/", shop.find_owned)
    server.add_route("GET", f"{base}/Number/{{number}}/", shop.fetch_number)
    server.add_route("POST", f"{base}/Number/{{number}}/", shop.update_number)
    server.add_route("DELETE", f"{base}/Number/{{number}}/", shop.release_number)
    server.add_route("GET", "/v1/Number/{number}", shop.look_up)


class _NumberRoutes:
    def __init__(self, server: "PlivoEmulator") -> None:
        self._server = server

    async def get_account(self, request: RestRequest) -> RestReply:
        body = {"auth_id": self._server.auth_id, "name": "Lab", "account_type": "standard", "cash_credits": "100.00000"}
        return RestReply(200, {"api_id": str(uuid.uuid4()), "billing_mode": "prepaid", **body})

    async def search_numbers(self, request: RestRequest) -> RestReply:
        country = (request.query.get("country_iso") or [""])[0].upper()
        kind = (request.query.get("type") or ["local"])[0]
        pattern = (request.query.get("pattern") or [""])[0]
        limit = int((request.query.get("limit") or ["20"])[0])
        # a pattern is the prefix of the number after the country code
        found = find_offers(
            country,
            "toll_free" if kind == "tollfree" else "local",
            area=pattern if len(pattern) <= 3 else "",
            contains=pattern,
            owned=self._server.numbers,
        )
        if found is None:
            return self._server.failure_reply(400, "country_iso is not supported")
        listed = [
            {
                "number": without_plus(offer.e164),
                "country": country,
                "city": offer.locality or None,
                "region": offer.region or None,
                "type": "fixed" if kind == "local" else kind,
                "monthly_rental_rate": "0.80000",
                "setup_rate": "0.00000",
                "voice_enabled": True,
                "sms_enabled": False,
                "restriction": None,
            }
            for offer in found[:limit]
        ]
        meta = {"limit": limit, "offset": 0, "total_count": len(listed)}
        return RestReply(200, {"api_id": str(uuid.uuid4()), "meta": meta, "objects": listed})

    async def buy_number(self, request: RestRequest) -> RestReply:
        """Sells a number to the main account; a sub-account can only be given one."""
        if not self._server.is_main(request):
            return self._server.failure_reply(403, "only a main account can rent numbers")
        wanted = request.parts["number"]
        if not is_digits(wanted):
            return self._server.failure_reply(400, "number is not valid")
        if with_plus(wanted) in self._server.numbers or wanted.endswith("0000"):
            return self._server.failure_reply(404, "number is not available")
        application = request.json.get("app_id")
        if application and str(application) not in self._server.applications_seen(request):
            return self._server.failure_reply(400, "app_id is not valid")
        self._server.add_number(with_plus(wanted), **({"app_id": str(application)} if application else {}))
        bought = [{"number": wanted, "status": "Success"}]
        body = {"message": "created", "numbers": bought, "status": "fulfilled"}
        return RestReply(201, {"api_id": str(uuid.uuid4()), **body})

    def _render_number(self, number: EmulatedNumber) -> dict[str, Any]:
        application = number.settings.get("app_id", self._server.application_id)
        owner = self._server.account_of_number(number.e164)
        return {
            "number": without_plus(number.e164),
            "alias": number.settings.get("alias"),
            "application": f"{self._server.base}/{self._server.auth_id}/Application/{application}/",
            "sub_account": self._server.path_of(owner),
            "voice_enabled": True,
            "active": True,
            "number_type": "local",
        }

    async def find_owned(self, request: RestRequest) -> RestReply:
        begins = (request.query.get("number_startswith") or [""])[0]
        found = [
            self._render_number(one)
            for one in self._server.numbers.values()
            if without_plus(one.e164).startswith(begins) and self._may_see(request, one)
        ]
        meta = {"limit": 20, "offset": 0, "total_count": len(found)}
        return RestReply(200, {"api_id": str(uuid.uuid4()), "meta": meta, "objects": found})

    def _find_number(self, request: RestRequest) -> EmulatedNumber | None:
        found = self._server.numbers.get(with_plus(request.parts["number"]))
        return found if found is not None and self._may_see(request, found) else None

    def _may_see(self, request: RestRequest, number: EmulatedNumber) -> bool:
        """The main account sees the numbers of its sub-accounts."""
        return self._server.is_main(request) or self._server.is_own_number(request, number.e164)

    async def fetch_number(self, request: RestRequest) -> RestReply:
        number = self._find_number(request)
        return (
            RestReply(200, self._render_number(number)) if number is not None else self._server.not_found_reply(request)
        )

    async def update_number(self, request: RestRequest) -> RestReply:
        number = self._find_number(request)
        if number is None:
            return self._server.not_found_reply(request)
        application = request.json.get("app_id")
        if application and str(application) not in self._server.applications_seen(request):
            return self._server.failure_reply(400, "app_id is not valid")
        if "subaccount" in request.json:
            if not self._server.is_main(request):
                return self._server.failure_reply(403, "only a main account can move numbers")
            if self._server.find_active(str(request.json["subaccount"])) is None:
                return self._server.failure_reply(400, "subaccount is not valid")
            number.owner = str(request.json["subaccount"])
        number.settings |= {name: request.json[name] for name in ("app_id", "alias") if name in request.json}
        return RestReply(202, {"api_id": str(uuid.uuid4()), "message": "changed"})

    async def release_number(self, request: RestRequest) -> RestReply:
        number = self._find_number(request)
        if number is None:
            return self._server.not_found_reply(request)
        del self._server.numbers[number.e164]
        return RestReply(204)

    async def look_up(self, request: RestRequest) -> RestReply:
        number = with_plus(request.parts["number"])
        carrier = {
            "name": "Lab Mobile",
            "type": self._server.line_types.get(number, "mobile"),
            "mobile_country_code": "310",
            "mobile_network_code": "456",
            "ported": "no",
        }
        body = {"phone_number": number, "country": {"name": "United States", "iso2": "US", "iso3": "USA"}}
        return RestReply(200, {"api_id": str(uuid.uuid4()), **body, "format": {"e164": number}, "carrier": carrier})
