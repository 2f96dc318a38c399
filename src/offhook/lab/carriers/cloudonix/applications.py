"""Cloudonix's domain, applications, called numbers (DNIDs) and trunks; numbers themselves are brought, not bought."""

import uuid
from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.number_formats import plus
from offhook.lab.carriers.core.rest import Reply, Request

if TYPE_CHECKING:
    from offhook.lab.carriers.cloudonix.server import CloudonixEmulator


def add_routes(server: "CloudonixEmulator", own: str) -> None:
    desk = _Applications(server)
    server.route("GET", own, desk.domain)
    server.route("GET", f"{own}/applications", desk.listed)
    server.route("POST", f"{own}/applications", desk.create)
    server.route("GET", f"{own}/applications/{{name}}", desk.fetch)
    server.route("PATCH", f"{own}/applications/{{name}}", desk.change)
    server.route("GET", f"{own}/trunks", desk.trunks)
    # two addresses of the same thing are in use
    for base in ("/domains/{domain}", own):
        server.route("GET", f"{base}/applications/{{name}}/dnids", desk.dnids)
        server.route("POST", f"{base}/applications/{{name}}/dnids", desk.add_dnid)
        server.route("DELETE", f"{base}/applications/{{name}}/dnids/{{dnid}}", desk.remove_dnid)


class _Applications:
    def __init__(self, server: "CloudonixEmulator") -> None:
        self._server = server

    async def domain(self, request: Request) -> Reply:
        return Reply(
            200,
            {
                "id": 1,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, self._server.domain)),
                "domain": self._server.domain,
                "active": True,
            },
        )

    def _found(self, request: Request) -> dict[str, Any] | None:
        """By name or by id."""
        asked = request.parts["name"]
        every = self._server.applications
        return every.get(asked) or next((one for one in every.values() if one["id"] == asked), None)

    async def listed(self, request: Request) -> Reply:
        return Reply(200, list(self._server.applications.values()))

    async def create(self, request: Request) -> Reply:
        body = request.json
        name = str(body.get("name") or "")
        if not name or name in self._server.applications:
            return Reply(400, "The name is missing or taken", content_type="text/plain")
        made = {
            "id": str(uuid.uuid4()),
            "name": name,
            "url": body.get("url", ""),
            "method": body.get("method") or "GET",
        }
        self._server.applications[name] = made
        return Reply(200, made)

    async def fetch(self, request: Request) -> Reply:
        found = self._found(request)
        return Reply(200, found) if found is not None else self._server.missing(request)

    async def change(self, request: Request) -> Reply:
        found = self._found(request)
        if found is None:
            return self._server.missing(request)
        found |= {name: request.json[name] for name in ("url", "method") if name in request.json}
        return Reply(200, found)

    async def trunks(self, request: Request) -> Reply:
        return Reply(200, [{"id": 1, "name": "lab-trunk", "active": True}])

    async def dnids(self, request: Request) -> Reply:
        found = self._found(request)
        if found is None:
            return self._server.missing(request)
        every = self._server.numbers.values()
        mine = [
            number for number in every if number.settings.get("application", self._server.application) == found["name"]
        ]
        return Reply(
            200,
            [{"id": one.id, "source": one.e164, "expression": one.settings.get("expression", False)} for one in mine],
        )

    async def add_dnid(self, request: Request) -> Reply:
        found = self._found(request)
        source = str(request.json.get("source") or "")
        if found is None:
            return self._server.missing(request)
        if not source:
            return Reply(400, "Missing source", content_type="text/plain")
        number = self._server.own(plus(source), application=found["name"])
        return Reply(200, {"id": number.id, "source": source, "expression": False})

    async def remove_dnid(self, request: Request) -> Reply:
        number = next((one for one in self._server.numbers.values() if one.id == request.parts["dnid"]), None)
        if number is None:
            return self._server.missing(request)
        del self._server.numbers[number.e164]
        return Reply(204)
