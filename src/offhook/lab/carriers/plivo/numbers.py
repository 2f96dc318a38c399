"""Plivo's numbers, the account and look-ups."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.emulator import Number
from offhook.lab.carriers.core.number_catalog import offers
from offhook.lab.carriers.core.number_formats import bare, is_digits, plus
from offhook.lab.carriers.core.rest import Reply, Request

if TYPE_CHECKING:
    from offhook.lab.carriers.plivo.server import PlivoEmulator


def add_routes(server: "PlivoEmulator", base: str) -> None:
    shop = _Numbers(server)
    server.route("GET", f"{base}/", shop.account)
    server.route("GET", f"{base}/PhoneNumber/", shop.search)
    server.route("POST", f"{base}/PhoneNumber/{{number}}/", shop.buy)
    server.route("GET", f"{base}/Number/", shop.owned)
    server.route("GET", f"{base}/Number/{{number}}/", shop.fetch)
    server.route("POST", f"{base}/Number/{{number}}/", shop.update)
    server.route("DELETE", f"{base}/Number/{{number}}/", shop.release)
    server.route("GET", "/v1/Number/{number}", shop.look_up)


class _Numbers:
    def __init__(self, server: "PlivoEmulator") -> None:
        self._server = server

    async def account(self, request: Request) -> Reply:
        body = {"auth_id": self._server.auth_id, "name": "Lab", "account_type": "standard", "cash_credits": "100.00000"}
        return Reply(200, {"api_id": str(uuid.uuid4()), "billing_mode": "prepaid", **body})

    async def search(self, request: Request) -> Reply:
        country = (request.query.get("country_iso") or [""])[0].upper()
        kind = (request.query.get("type") or ["local"])[0]
        pattern = (request.query.get("pattern") or [""])[0]
        limit = int((request.query.get("limit") or ["20"])[0])
        # a pattern is what the number begins with, after the country's code
        found = offers(
            country, "toll_free" if kind == "tollfree" else "local", area=pattern, owned=self._server.numbers
        )
        if found is None:
            return self._server.failure(400, "country_iso is not supported")
        listed = [
            {
                "number": bare(offer.e164),
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
        return Reply(200, {"api_id": str(uuid.uuid4()), "meta": meta, "objects": listed})

    async def buy(self, request: Request) -> Reply:
        wanted = request.parts["number"]
        if not is_digits(wanted):
            return self._server.failure(400, "number is not valid")
        if plus(wanted) in self._server.numbers or wanted.endswith("0000"):
            return self._server.failure(404, "number is not available")
        application = request.json.get("app_id")
        if application and str(application) not in self._server.applications:
            return self._server.failure(400, "app_id is not valid")
        self._server.own(plus(wanted), **({"app_id": str(application)} if application else {}))
        bought = [{"number": wanted, "status": "Success"}]
        body = {"message": "created", "numbers": bought, "status": "fulfilled"}
        return Reply(201, {"api_id": str(uuid.uuid4()), **body})

    def _rendered(self, number: Number) -> dict[str, Any]:
        application = number.settings.get("app_id", self._server.application_id)
        return {
            "number": bare(number.e164),
            "alias": number.settings.get("alias"),
            "application": f"{self._server.base}/{self._server.auth_id}/Application/{application}/",
            "voice_enabled": True,
            "active": True,
            "number_type": "local",
        }

    async def owned(self, request: Request) -> Reply:
        begins = (request.query.get("number_startswith") or [""])[0]
        found = [self._rendered(one) for one in self._server.numbers.values() if bare(one.e164).startswith(begins)]
        meta = {"limit": 20, "offset": 0, "total_count": len(found)}
        return Reply(200, {"api_id": str(uuid.uuid4()), "meta": meta, "objects": found})

    def _number(self, request: Request) -> Number | None:
        return self._server.numbers.get(plus(request.parts["number"]))

    async def fetch(self, request: Request) -> Reply:
        number = self._number(request)
        return Reply(200, self._rendered(number)) if number is not None else self._server.missing(request)

    async def update(self, request: Request) -> Reply:
        number = self._number(request)
        if number is None:
            return self._server.missing(request)
        application = request.json.get("app_id")
        if application and str(application) not in self._server.applications:
            return self._server.failure(400, "app_id is not valid")
        number.settings |= {name: request.json[name] for name in ("app_id", "alias") if name in request.json}
        return Reply(202, {"api_id": str(uuid.uuid4()), "message": "changed"})

    async def release(self, request: Request) -> Reply:
        number = self._number(request)
        if number is None:
            return self._server.missing(request)
        del self._server.numbers[number.e164]
        return Reply(204)

    async def look_up(self, request: Request) -> Reply:
        number = plus(request.parts["number"])
        carrier = {
            "name": "Lab Mobile",
            "type": self._server.line_types.get(number, "mobile"),
            "mobile_country_code": "310",
            "mobile_network_code": "456",
            "ported": "no",
        }
        body = {"phone_number": number, "country": {"name": "United States", "iso2": "US", "iso3": "USA"}}
        return Reply(200, {"api_id": str(uuid.uuid4()), **body, "format": {"e164": number}, "carrier": carrier})
