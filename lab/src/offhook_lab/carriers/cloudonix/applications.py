"""Cloudonix's domain, applications, called numbers (DNIDs) and trunks; customers bring their numbers and buy none."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.number_formats import with_plus
from offhook_lab.carriers.core.rest import RestReply, RestRequest

if TYPE_CHECKING:
    from offhook_lab.carriers.cloudonix.server import CloudonixEmulator


def add_routes(server: "CloudonixEmulator", own: str) -> None:
    desk = _ApplicationRoutes(server)
    server.add_route("GET", own, desk.get_domain)
    server.add_route("GET", f"{own}/applications", desk.list_applications)
    server.add_route("POST", f"{own}/applications", desk.create_application)
    server.add_route("GET", f"{own}/applications/{{name}}", desk.fetch_application)
    server.add_route("PATCH", f"{own}/applications/{{name}}", desk.change_application)
    server.add_route("GET", f"{own}/trunks", desk.list_trunks)
    # two addresses of the same resource are in use
    for base in ("/domains/{domain}", own):
        server.add_route("GET", f"{base}/applications/{{name}}/dnids", desk.list_dnids)
        server.add_route("POST", f"{base}/applications/{{name}}/dnids", desk.add_dnid)
        server.add_route("DELETE", f"{base}/applications/{{name}}/dnids/{{dnid}}", desk.remove_dnid)


class _ApplicationRoutes:
    def __init__(self, server: "CloudonixEmulator") -> None:
        self._server = server

    async def get_domain(self, request: RestRequest) -> RestReply:
        return RestReply(
            200,
            {
                "id": 1,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, self._server.domain)),
                "domain": self._server.domain,
                "active": True,
            },
        )

    def _find_application(self, request: RestRequest) -> dict[str, Any] | None:
        """Finds an application by name or by id."""
        asked = request.parts["name"]
        every = self._server.applications
        return every.get(asked) or next((one for one in every.values() if one["id"] == asked), None)

    async def list_applications(self, request: RestRequest) -> RestReply:
        return RestReply(200, list(self._server.applications.values()))

    async def create_application(self, request: RestRequest) -> RestReply:
        body = request.json
        name = str(body.get("name") or "")
        if not name or name in self._server.applications:
            return RestReply(400, "The name is missing or taken", content_type="text/plain")
        made = {
            "id": str(uuid.uuid4()),
            "name": name,
            "url": body.get("url", ""),
            "method": body.get("method") or "GET",
        }
        self._server.applications[name] = made
        return RestReply(200, made)

    async def fetch_application(self, request: RestRequest) -> RestReply:
        found = self._find_application(request)
        return RestReply(200, found) if found is not None else self._server.not_found_reply(request)

    async def change_application(self, request: RestRequest) -> RestReply:
        found = self._find_application(request)
        if found is None:
            return self._server.not_found_reply(request)
        found |= {name: request.json[name] for name in ("url", "method") if name in request.json}
        return RestReply(200, found)

    async def list_trunks(self, request: RestRequest) -> RestReply:
        return RestReply(200, [{"id": 1, "name": "lab-trunk", "active": True}])

    async def list_dnids(self, request: RestRequest) -> RestReply:
        found = self._find_application(request)
        if found is None:
            return self._server.not_found_reply(request)
        every = self._server.numbers.values()
        mine = [
            number for number in every if number.settings.get("application", self._server.application) == found["name"]
        ]
        return RestReply(
            200,
            [{"id": one.id, "source": one.e164, "expression": one.settings.get("expression", False)} for one in mine],
        )

    async def add_dnid(self, request: RestRequest) -> RestReply:
        found = self._find_application(request)
        source = str(request.json.get("source") or "")
        if found is None:
            return self._server.not_found_reply(request)
        if not source:
            return RestReply(400, "Missing source", content_type="text/plain")
        number = self._server.add_number(with_plus(source), application=found["name"])
        return RestReply(200, {"id": number.id, "source": source, "expression": False})

    async def remove_dnid(self, request: RestRequest) -> RestReply:
        number = next((one for one in self._server.numbers.values() if one.id == request.parts["dnid"]), None)
        if number is None:
            return self._server.not_found_reply(request)
        del self._server.numbers[number.e164]
        return RestReply(204)
