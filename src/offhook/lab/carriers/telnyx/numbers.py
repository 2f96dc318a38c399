"""Telnyx's numbers, number orders, call control applications and look-ups."""

from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.emulator import Number
from offhook.lab.carriers.core.number_catalog import offers
from offhook.lab.carriers.core.number_formats import is_e164, plus
from offhook.lab.carriers.core.rest import Reply, Request
from offhook.lab.carriers.telnyx.replies import failure, ok

if TYPE_CHECKING:
    from offhook.lab.carriers.telnyx.server import TelnyxEmulator


def add_routes(server: "TelnyxEmulator") -> None:
    shop = _Numbers(server)
    server.route("GET", "/v2/available_phone_numbers", shop.search)
    server.route("POST", "/v2/number_orders", shop.order)
    server.route("GET", "/v2/number_orders/{id}", shop.fetch_order)
    server.route("GET", "/v2/phone_numbers", shop.owned)
    server.route("GET", "/v2/phone_numbers/{id}", shop.fetch)
    server.route("PATCH", "/v2/phone_numbers/{id}", shop.update)
    server.route("DELETE", "/v2/phone_numbers/{id}", shop.release)
    server.route("GET", "/v2/call_control_applications", shop.applications)
    server.route("POST", "/v2/call_control_applications", shop.create_application)
    server.route("GET", "/v2/call_control_applications/{id}", shop.fetch_application)
    server.route("PATCH", "/v2/call_control_applications/{id}", shop.update_application)
    server.route("GET", "/v2/number_lookup/{number}", shop.look_up)


class _Numbers:
    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server

    async def search(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in request.query.items()}
        country = asked.get("filter[country_code]", "US").upper()
        found = offers(
            country,
            "toll_free" if asked.get("filter[phone_number_type]") == "toll_free" else "local",
            area=asked.get("filter[national_destination_code]", ""),
            contains=asked.get("filter[phone_number][contains]", ""),
            owned=self._server.numbers,
        )
        if found is None:
            return failure(400, "10015", "Bad Request", "Unsupported country.", "/filter[country_code]")
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
        return Reply(200, {"data": listed, "meta": {"total_results": len(listed)}})

    async def order(self, request: Request) -> Reply:
        wanted = [str(one.get("phone_number", "")) for one in request.json.get("phone_numbers") or ()]
        if not wanted:
            return failure(422, "10004", "Missing required parameter", "phone_numbers is required.", "/phone_numbers")
        connection = str(request.json.get("connection_id") or "")
        if connection and connection not in self._server.applications:
            return failure(422, "10015", "Invalid value", "Invalid connection_id.", "/connection_id")
        for number in wanted:
            if not is_e164(number) or number in self._server.numbers or number.endswith("0000"):
                detail = f"The number {number} is not available."
                return failure(422, "85006", "Phone number not available", detail, "/phone_numbers")
        order = self._server.new_id("other")
        bought = [
            self._server.own(number, **({"connection_id": connection} if connection else {})) for number in wanted
        ]
        self._server.orders[order] = {
            "record_type": "number_order",
            "id": order,
            "status": "success",
            "connection_id": connection or None,
            "phone_numbers_count": len(bought),
            "phone_numbers": [{"id": one.id, "phone_number": one.e164, "status": "success"} for one in bought],
        }
        return ok(**self._server.orders[order])

    async def fetch_order(self, request: Request) -> Reply:
        order = self._server.orders.get(request.parts["id"])
        return ok(**order) if order is not None else self._server.missing(request)

    def _rendered(self, number: Number) -> dict[str, Any]:
        return {
            "record_type": "phone_number",
            "id": number.id,
            "phone_number": number.e164,
            "status": "active",
            "connection_id": number.settings.get("connection_id"),
            "phone_number_type": number.type,
            "country_iso_alpha2": number.country,
        }

    async def owned(self, request: Request) -> Reply:
        wanted = plus((request.query.get("filter[phone_number]") or [""])[0].strip())
        found = [self._rendered(one) for one in self._server.numbers.values() if not wanted or wanted == one.e164]
        return Reply(200, {"data": found, "meta": {"total_results": len(found), "total_pages": 1}})

    def _by_id(self, request: Request) -> Number | None:
        return next((one for one in self._server.numbers.values() if one.id == request.parts["id"]), None)

    async def fetch(self, request: Request) -> Reply:
        number = self._by_id(request)
        return ok(**self._rendered(number)) if number is not None else self._server.missing(request)

    async def update(self, request: Request) -> Reply:
        number = self._by_id(request)
        if number is None:
            return self._server.missing(request)
        connection = request.json.get("connection_id")
        if connection and str(connection) not in self._server.applications:
            return failure(422, "10015", "Invalid value", "Invalid connection_id.", "/connection_id")
        if "connection_id" in request.json:
            number.settings["connection_id"] = str(connection) if connection else None
        return ok(**self._rendered(number))

    async def release(self, request: Request) -> Reply:
        number = self._by_id(request)
        if number is None:
            return self._server.missing(request)
        del self._server.numbers[number.e164]
        return ok(**{**self._rendered(number), "status": "deleted"})

    def _application(self, connection: str) -> dict[str, Any]:
        found = self._server.applications[connection]
        return {"record_type": "call_control_application", "id": connection, "active": True, **found}

    async def applications(self, request: Request) -> Reply:
        return Reply(200, {"data": [self._application(one) for one in self._server.applications]})

    async def create_application(self, request: Request) -> Reply:
        if refusal := _application_problem(request.json):
            return refusal
        connection = self._server.new_id("number")
        self._server.applications[connection] = dict(request.json)
        return Reply(201, {"data": self._application(connection)})

    async def fetch_application(self, request: Request) -> Reply:
        if request.parts["id"] not in self._server.applications:
            return self._server.missing(request)
        return ok(**self._application(request.parts["id"]))

    async def update_application(self, request: Request) -> Reply:
        found = self._server.applications.get(request.parts["id"])
        if found is None:
            return self._server.missing(request)
        if refusal := _application_problem(request.json):
            return refusal
        found |= request.json
        return ok(**self._application(request.parts["id"]))

    async def look_up(self, request: Request) -> Reply:
        number = plus(request.parts["number"])
        if not is_e164(number):
            return failure(422, "10016", "Phone number must be in +E.164 format", "Invalid number.")
        carrier = {
            "name": "Lab Mobile",
            "type": self._server.line_types.get(number, "mobile"),
            "mobile_country_code": "310",
            "mobile_network_code": "456",
            "normalized_carrier": "Lab",
            "error_code": None,
        }
        is_asked = (request.query.get("type") or [""])[0] == "carrier"
        return ok(
            record_type="number_lookup",
            country_code="US",
            phone_number=number,
            carrier=carrier if is_asked else None,
            portability={"line_type": carrier["type"], "ported_status": "N"} if is_asked else None,
        )


def _application_problem(body: dict[str, Any]) -> Reply | None:
    """The name has to be repeated with every change."""
    for name in ("application_name", "webhook_event_url"):
        if name == "application_name" and not body.get(name):
            return failure(422, "10004", "Missing required parameter", f"{name} is required.", f"/{name}")
    return None
