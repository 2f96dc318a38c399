"""Vonage's numbers, applications, account and look-ups."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_catalog import find_offers
from offhook_lab.carriers.core.number_formats import is_digits, with_plus, without_plus
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.vonage.accounts import new_key, private_pem

if TYPE_CHECKING:
    from offhook_lab.carriers.vonage.server import VonageEmulator


def add_routes(server: "VonageEmulator") -> None:
    shop = _NumberRoutes(server)
    server.add_route("GET", "/account/get-balance", shop.get_balance)
    server.add_route("GET", "/account/numbers", shop.list_numbers)
    server.add_route("GET", "/number/search", shop.search_numbers)
    server.add_route("POST", "/number/buy", shop.buy_number)
    server.add_route("POST", "/number/update", shop.update_number)
    server.add_route("POST", "/number/cancel", shop.cancel_number)
    server.add_route("GET", "/v2/applications", shop.list_applications)
    server.add_route("POST", "/v2/applications", shop.create_application)
    server.add_route("GET", "/v2/applications/{id}", shop.fetch_application)
    server.add_route("PUT", "/v2/applications/{id}", shop.put_application)
    for level in ("basic", "standard", "advanced"):
        server.add_route("GET", f"/ni/{level}/json", shop.number_insight)
    server.add_route("POST", "/identity-insights/v1/requests", shop.identity_insights)


def _number_reply(status: int = 200, label: str = "success") -> RestReply:
    return RestReply(status, {"error-code": str(status), "error-code-label": label})


class _NumberRoutes:
    def __init__(self, server: "VonageEmulator") -> None:
        self._server = server

    async def get_balance(self, request: RestRequest) -> RestReply:
        return RestReply(200, {"value": 100.0, "autoReload": False})

    async def list_numbers(self, request: RestRequest) -> RestReply:
        pattern = (request.query.get("pattern") or [""])[0]
        found = [
            {
                "country": number.country,
                "msisdn": without_plus(number.e164),
                "type": "mobile-lvn",
                "features": ["VOICE"],
                "app_id": number.settings.get("app_id"),
            }
            for number in self._server.numbers.values()
            if pattern in number.e164 and self._server.is_own_number(request, number.e164)
        ]
        return RestReply(200, {"count": len(found), "numbers": found})

    async def search_numbers(self, request: RestRequest) -> RestReply:
        country = (request.query.get("country") or [""])[0].upper()
        if not country:
            return _number_reply(420, "country is required")
        pattern = (request.query.get("pattern") or [""])[0]
        # search_pattern 0: the prefix, country code included
        begins = (request.query.get("search_pattern") or ["0"])[0] == "0"
        area = pattern[1:] if begins and pattern.startswith("1") and len(pattern) > 1 else ""
        found = find_offers(country, area=area, contains="" if area else pattern, owned=self._server.numbers) or []
        listed = [
            {
                "country": country,
                "msisdn": without_plus(one.e164),
                "cost": "0.90",
                "type": "mobile-lvn",
                "features": ["VOICE"],
            }
            for one in found
        ]
        return RestReply(200, {"count": len(listed), "numbers": listed})

    async def buy_number(self, request: RestRequest) -> RestReply:
        number = request.first_value("msisdn") or ""
        if not request.first_value("country") or not is_digits(number):
            return _number_reply(420, "Numbers from this country can be requested from the Dashboard")
        if with_plus(number) in self._server.numbers or number.endswith("0000"):
            return _number_reply(420, "method failed")
        # a bought number has no application until an update sets one
        bought = self._server.add_number(with_plus(number), app_id=None)
        bought.country = (request.first_value("country") or "").upper()
        bought.owner = self._server.account_asking(request) or ""
        return _number_reply()

    async def update_number(self, request: RestRequest) -> RestReply:
        number = self._find_own(request)
        if number is None:
            return _number_reply(420, "method failed")
        application = request.first_value("app_id")
        if application and not self._server.is_seen(request, application):
            return _number_reply(420, "app_id is not valid")
        # without an application the number is unlinked
        number.settings["app_id"] = application
        return _number_reply()

    async def cancel_number(self, request: RestRequest) -> RestReply:
        number = self._find_own(request)
        if number is None:
            return _number_reply(420, "method failed")
        del self._server.numbers[number.e164]
        return _number_reply()

    def _find_own(self, request: RestRequest) -> EmulatedNumber | None:
        e164 = with_plus(request.first_value("msisdn") or "")
        return self._server.numbers[e164] if self._server.is_own_number(request, e164) else None

    def _render_application(self, name: str) -> dict[str, Any]:
        return {"id": name, "keys": {"public_key": ""}, **self._server.applications[name]}

    async def list_applications(self, request: RestRequest) -> RestReply:
        found = [
            self._render_application(name) for name in self._server.applications if self._server.is_seen(request, name)
        ]
        return RestReply(200, {"total_items": len(found), "_embedded": {"applications": found}})

    async def create_application(self, request: RestRequest) -> RestReply:
        """Creates an application with a key pair, whose private half no later answer has."""
        if not request.json.get("name"):
            return RestReply(400, {"title": "Bad Request", "detail": "name is required"})
        name = str(uuid.uuid4())
        self._server.applications[name] = {"capabilities": {}, **request.json}
        self._server.owners[name] = self._server.account_asking(request) or ""
        key = self._server.application_keys[name] = new_key()
        return RestReply(201, self._render_application(name) | {"keys": {"private_key": private_pem(key)}})

    async def fetch_application(self, request: RestRequest) -> RestReply:
        name = request.parts["id"]
        return (
            RestReply(200, self._render_application(name))
            if self._server.is_seen(request, name)
            else self._server.not_found_reply(request)
        )

    async def put_application(self, request: RestRequest) -> RestReply:
        """Replaces the whole application: omitted fields are removed."""
        name = request.parts["id"]
        if not self._server.is_seen(request, name):
            return self._server.not_found_reply(request)
        if not request.json.get("name"):
            return RestReply(400, {"title": "Bad Request", "detail": "name is required"})
        kept = {key: value for key, value in request.json.items() if key != "id"}
        self._server.applications[name] = {"capabilities": {}, **kept}
        return RestReply(200, self._render_application(name))

    async def number_insight(self, request: RestRequest) -> RestReply:
        number = without_plus(request.first_value("number") or "")
        if not is_digits(number):
            return RestReply(
                200, {"status": 3, "status_message": "Invalid request :: Not valid number format detected"}
            )
        body: dict[str, Any] = {"status": 0, "status_message": "Success", "international_format_number": number}
        body |= {"country_code": "US", "country_name": "United States of America"}
        if "/ni/basic/" not in request.path:
            body["current_carrier"] = {
                "network_code": "310456",
                "name": "Lab Mobile",
                "country": "US",
                "network_type": self._server.line_types.get(with_plus(number), "mobile"),
            }
        return RestReply(200, body)

    async def identity_insights(self, request: RestRequest) -> RestReply:
        number = without_plus(str(request.json.get("phone_number") or ""))
        if not is_digits(number):
            return RestReply(422, {"title": "Unprocessable Entity", "detail": "phone_number is not valid"})
        wanted = request.json.get("insights") or {}
        found: dict[str, Any] = {}
        if "format" in wanted:
            said = {"country_code": "US", "international": f"+{number}", "is_valid": True}
            found["format"] = {**said, "status": {"code": "OK", "message": "Success"}}
        carrier = {
            "name": "Lab Mobile",
            "network_type": self._server.line_types.get(with_plus(number), "MOBILE"),
            "country_code": "US",
            "network_code": "310456",
            "status": {"code": "OK", "message": "Success"},
        }
        found |= {name: carrier for name in ("current_carrier", "original_carrier") if name in wanted}
        return RestReply(200, {"request_id": str(uuid.uuid4()), "insights": found})
