"""Vonage's numbers, applications, account and look-ups."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.number_catalog import offers
from offhook.lab.carriers.core.number_formats import bare, is_digits, plus
from offhook.lab.carriers.core.rest import Reply, Request

if TYPE_CHECKING:
    from offhook.lab.carriers.vonage.server import VonageEmulator


def add_routes(server: "VonageEmulator") -> None:
    shop = _Numbers(server)
    server.route("GET", "/account/get-balance", shop.balance)
    server.route("GET", "/account/numbers", shop.owned)
    server.route("GET", "/number/search", shop.search)
    server.route("POST", "/number/buy", shop.buy)
    server.route("POST", "/number/update", shop.update)
    server.route("POST", "/number/cancel", shop.cancel)
    server.route("GET", "/v2/applications", shop.applications)
    server.route("POST", "/v2/applications", shop.create_application)
    server.route("GET", "/v2/applications/{id}", shop.fetch_application)
    server.route("PUT", "/v2/applications/{id}", shop.put_application)
    for level in ("basic", "standard", "advanced"):
        server.route("GET", f"/ni/{level}/json", shop.insight)
    server.route("POST", "/identity-insights/v1/requests", shop.identity)


def _done(status: int = 200, label: str = "success") -> Reply:
    return Reply(status, {"error-code": str(status), "error-code-label": label})


class _Numbers:
    def __init__(self, server: "VonageEmulator") -> None:
        self._server = server

    async def balance(self, request: Request) -> Reply:
        return Reply(200, {"value": 100.0, "autoReload": False})

    async def owned(self, request: Request) -> Reply:
        pattern = (request.query.get("pattern") or [""])[0]
        found = [
            {
                "country": number.country,
                "msisdn": bare(number.e164),
                "type": "mobile-lvn",
                "features": ["VOICE"],
                "app_id": number.settings.get("app_id"),
            }
            for number in self._server.numbers.values()
            if pattern in number.e164
        ]
        return Reply(200, {"count": len(found), "numbers": found})

    async def search(self, request: Request) -> Reply:
        country = (request.query.get("country") or [""])[0].upper()
        if not country:
            return _done(420, "country is required")
        pattern = (request.query.get("pattern") or [""])[0]
        # search_pattern 0: begins with, the country's code included
        begins = (request.query.get("search_pattern") or ["0"])[0] == "0"
        area = pattern[1:] if begins and pattern.startswith("1") and len(pattern) > 1 else ""
        found = offers(country, area=area, contains="" if area else pattern, owned=self._server.numbers) or []
        listed = [
            {"country": country, "msisdn": bare(one.e164), "cost": "0.90", "type": "mobile-lvn", "features": ["VOICE"]}
            for one in found
        ]
        return Reply(200, {"count": len(listed), "numbers": listed})

    async def buy(self, request: Request) -> Reply:
        number = request.field("msisdn") or ""
        if not request.field("country") or not is_digits(number):
            return _done(420, "Numbers from this country can be requested from the Dashboard")
        if plus(number) in self._server.numbers or number.endswith("0000"):
            return _done(420, "method failed")
        # a number that is bought points at no application until it is told to
        self._server.own(plus(number), app_id=None).country = (request.field("country") or "").upper()
        return _done()

    async def update(self, request: Request) -> Reply:
        number = self._server.numbers.get(plus(request.field("msisdn") or ""))
        if number is None:
            return _done(420, "method failed")
        application = request.field("app_id")
        if application and application not in self._server.applications:
            return _done(420, "app_id is not valid")
        # without an application the number is unlinked
        number.settings["app_id"] = application
        return _done()

    async def cancel(self, request: Request) -> Reply:
        number = self._server.numbers.pop(plus(request.field("msisdn") or ""), None)
        return _done() if number is not None else _done(420, "method failed")

    def _application(self, name: str) -> dict[str, Any]:
        return {"id": name, "keys": {"public_key": ""}, **self._server.applications[name]}

    async def applications(self, request: Request) -> Reply:
        found = [self._application(name) for name in self._server.applications]
        return Reply(200, {"total_items": len(found), "_embedded": {"applications": found}})

    async def create_application(self, request: Request) -> Reply:
        if not request.json.get("name"):
            return Reply(400, {"title": "Bad Request", "detail": "name is required"})
        name = str(uuid.uuid4())
        self._server.applications[name] = dict(request.json)
        return Reply(201, self._application(name))

    async def fetch_application(self, request: Request) -> Reply:
        name = request.parts["id"]
        return (
            Reply(200, self._application(name)) if name in self._server.applications else self._server.missing(request)
        )

    async def put_application(self, request: Request) -> Reply:
        """Replaces all of it: what is left out is gone."""
        name = request.parts["id"]
        if name not in self._server.applications:
            return self._server.missing(request)
        if not request.json.get("name"):
            return Reply(400, {"title": "Bad Request", "detail": "name is required"})
        kept = {key: value for key, value in request.json.items() if key != "id"}
        self._server.applications[name] = {"capabilities": {}, **kept}
        return Reply(200, self._application(name))

    async def insight(self, request: Request) -> Reply:
        number = bare(request.field("number") or "")
        if not is_digits(number):
            return Reply(200, {"status": 3, "status_message": "Invalid request :: Not valid number format detected"})
        body: dict[str, Any] = {"status": 0, "status_message": "Success", "international_format_number": number}
        body |= {"country_code": "US", "country_name": "United States of America"}
        if "/ni/basic/" not in request.path:
            body["current_carrier"] = {
                "network_code": "310456",
                "name": "Lab Mobile",
                "country": "US",
                "network_type": self._server.line_types.get(plus(number), "mobile"),
            }
        return Reply(200, body)

    async def identity(self, request: Request) -> Reply:
        number = bare(str(request.json.get("phone_number") or ""))
        if not is_digits(number):
            return Reply(422, {"title": "Unprocessable Entity", "detail": "phone_number is not valid"})
        wanted = request.json.get("insights") or {}
        found: dict[str, Any] = {}
        if "format" in wanted:
            said = {"country_code": "US", "international": f"+{number}", "is_valid": True}
            found["format"] = {**said, "status": {"code": "OK", "message": "Success"}}
        carrier = {
            "name": "Lab Mobile",
            "network_type": self._server.line_types.get(plus(number), "MOBILE"),
            "country_code": "US",
            "network_code": "310456",
            "status": {"code": "OK", "message": "Success"},
        }
        found |= {name: carrier for name in ("current_carrier", "original_carrier") if name in wanted}
        return Reply(200, {"request_id": str(uuid.uuid4()), "insights": found})
