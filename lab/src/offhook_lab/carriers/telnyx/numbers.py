"""Telnyx's numbers, number orders, call control applications and look-ups."""

from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_catalog import find_offers
from offhook_lab.carriers.core.number_formats import is_e164, with_plus
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.telnyx.replies import failure_reply, ok_reply

if TYPE_CHECKING:
    from offhook_lab.carriers.telnyx.server import TelnyxEmulator


def add_routes(server: "TelnyxEmulator") -> None:
    shop = _NumberRoutes(server)
    server.add_route("GET", "/v2/available_phone_numbers", shop.search_numbers)
    server.add_route("POST", "/v2/number_orders", shop.order_numbers)
    server.add_route("GET", "/v2/number_orders/{id}", shop.fetch_order)
    server.add_route("GET", "/v2/phone_numbers", shop.list_numbers)
    server.add_route("GET", "/v2/phone_numbers/{id}", shop.fetch_number)
    server.add_route("PATCH", "/v2/phone_numbers/{id}", shop.update_number)
    server.add_route("DELETE", "/v2/phone_numbers/{id}", shop.release_number)
    server.add_route("GET", "/v2/call_control_applications", shop.list_applications)
    server.add_route("POST", "/v2/call_control_applications", shop.create_application)
    server.add_route("GET", "/v2/call_control_applications/{id}", shop.fetch_application)
    server.add_route("PATCH", "/v2/call_control_applications/{id}", shop.update_application)
    server.add_route("GET", "/v2/number_lookup/{number}", shop.look_up)


class _NumberRoutes:
    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server

    async def search_numbers(self, request: RestRequest) -> RestReply:
        asked = {name: values[0] for name, values in request.query.items()}
        country = asked.get("filter[country_code]", "US").upper()
        found = find_offers(
            country,
            "toll_free" if asked.get("filter[phone_number_type]") == "toll_free" else "local",
            area=asked.get("filter[national_destination_code]", ""),
            contains=asked.get("filter[phone_number][contains]", ""),
            owned=self._server.numbers,
        )
        if found is None:
            return failure_reply(400, "10015", "Bad Request", "Unsupported country.", "/filter[country_code]")
        listed = [
            {
                "record_type": "available_phone_number",
                "phone_number": offer.e164,
                "vanity_format": None,
                "region_information": [
                    {"region_type": "country_code", "region_name": country},
                    {"region_type": "rate_center", "region_name": offer.locality},
                    {"region_type": "state", "region_name": offer.region},
                ],
                "cost_information": {"upfront_cost": "1.00", "monthly_cost": "1.00", "currency": "USD"},
                "features": [{"name": "voice"}],
                "phone_number_type": asked.get("filter[phone_number_type]", "local"),
                "reservable": True,
            }
            for offer in found
        ]
        return RestReply(200, {"data": listed, "meta": {"total_results": len(listed)}})

    async def order_numbers(self, request: RestRequest) -> RestReply:
        wanted = [str(one.get("phone_number", "")) for one in request.json.get("phone_numbers") or ()]
        if not wanted:
            return failure_reply(
                422, "10004", "Missing required parameter", "phone_numbers is required.", "/phone_numbers"
            )
        connection = str(request.json.get("connection_id") or "")
        if connection and not self._server.is_seen(request, connection):
            return failure_reply(422, "10015", "Invalid value", "Invalid connection_id.", "/connection_id")
        for number in wanted:
            if not is_e164(number) or number in self._server.numbers or number.endswith("0000"):
                detail = f"The number {number} is not available."
                return failure_reply(422, "85006", "Phone number not available", detail, "/phone_numbers")
        order = self._server.new_id("other")
        bought = [
            self._server.add_number(number, **({"connection_id": connection} if connection else {}))
            for number in wanted
        ]
        for one in bought:
            one.owner = self._server.account_asking(request) or ""
        self._server.orders[order] = {
            "record_type": "number_order",
            "id": order,
            "status": "success",
            "connection_id": connection or None,
            "phone_numbers_count": len(bought),
            "phone_numbers": [{"id": one.id, "phone_number": one.e164, "status": "success"} for one in bought],
        }
        return ok_reply(**self._server.orders[order])

    async def fetch_order(self, request: RestRequest) -> RestReply:
        order = self._server.orders.get(request.parts["id"])
        return ok_reply(**order) if order is not None else self._server.not_found_reply(request)

    def _render_number(self, number: EmulatedNumber) -> dict[str, Any]:
        return {
            "record_type": "phone_number",
            "id": number.id,
            "phone_number": number.e164,
            "status": "active",
            "connection_id": number.settings.get("connection_id"),
            "phone_number_type": number.type,
            "country_iso_alpha2": number.country,
        }

    async def list_numbers(self, request: RestRequest) -> RestReply:
        wanted = with_plus((request.query.get("filter[phone_number]") or [""])[0].strip())
        owned = [one for one in self._server.numbers.values() if self._server.is_own_number(request, one.e164)]
        found = [self._render_number(one) for one in owned if not wanted or wanted == one.e164]
        return RestReply(200, {"data": found, "meta": {"total_results": len(found), "total_pages": 1}})

    def _by_id(self, request: RestRequest) -> EmulatedNumber | None:
        found = (one for one in self._server.numbers.values() if one.id == request.parts["id"])
        return next((one for one in found if self._server.is_own_number(request, one.e164)), None)

    async def fetch_number(self, request: RestRequest) -> RestReply:
        number = self._by_id(request)
        return ok_reply(**self._render_number(number)) if number is not None else self._server.not_found_reply(request)

    async def update_number(self, request: RestRequest) -> RestReply:
        number = self._by_id(request)
        if number is None:
            return self._server.not_found_reply(request)
        connection = request.json.get("connection_id")
        if connection and not self._server.is_seen(request, str(connection)):
            return failure_reply(422, "10015", "Invalid value", "Invalid connection_id.", "/connection_id")
        if "connection_id" in request.json:
            number.settings["connection_id"] = str(connection) if connection else None
        return ok_reply(**self._render_number(number))

    async def release_number(self, request: RestRequest) -> RestReply:
        number = self._by_id(request)
        if number is None:
            return self._server.not_found_reply(request)
        del self._server.numbers[number.e164]
        return ok_reply(**{**self._render_number(number), "status": "deleted"})

    def _render_application(self, connection: str) -> dict[str, Any]:
        found = self._server.applications[connection]
        return {"record_type": "call_control_application", "id": connection, "active": True, **found}

    async def list_applications(self, request: RestRequest) -> RestReply:
        seen = [one for one in self._server.applications if self._server.is_seen(request, one)]
        return RestReply(200, {"data": [self._render_application(one) for one in seen]})

    async def create_application(self, request: RestRequest) -> RestReply:
        if refusal := _application_problem(request.json):
            return refusal
        connection = self._server.new_id("number")
        self._server.applications[connection] = dict(request.json)
        self._server.owners[connection] = self._server.account_asking(request) or ""
        return RestReply(201, {"data": self._render_application(connection)})

    async def fetch_application(self, request: RestRequest) -> RestReply:
        if not self._server.is_seen(request, request.parts["id"]):
            return self._server.not_found_reply(request)
        return ok_reply(**self._render_application(request.parts["id"]))

    async def update_application(self, request: RestRequest) -> RestReply:
        if not self._server.is_seen(request, request.parts["id"]):
            return self._server.not_found_reply(request)
        found = self._server.applications[request.parts["id"]]
        if refusal := _application_problem(request.json):
            return refusal
        found |= request.json
        return ok_reply(**self._render_application(request.parts["id"]))

    async def look_up(self, request: RestRequest) -> RestReply:
        number = with_plus(request.parts["number"])
        if not is_e164(number):
            return failure_reply(422, "10016", "Phone number must be in +E.164 format", "Invalid number.")
        carrier = {
            "name": "Lab Mobile",
            "type": self._server.line_types.get(number, "mobile"),
            "mobile_country_code": "310",
            "mobile_network_code": "456",
            "normalized_carrier": "Lab",
            "error_code": None,
        }
        is_asked = (request.query.get("type") or [""])[0] == "carrier"
        return ok_reply(
            record_type="number_lookup",
            country_code="US",
            phone_number=number,
            carrier=carrier if is_asked else None,
            portability={"line_type": carrier["type"], "ported_status": "N"} if is_asked else None,
        )


def _application_problem(body: dict[str, Any]) -> RestReply | None:
    """Returns the problem with an application's change, which has to repeat the name."""
    for name in ("application_name", "webhook_event_url"):
        if name == "application_name" and not body.get(name):
            return failure_reply(422, "10004", "Missing required parameter", f"{name} is required.", f"/{name}")
    return None
