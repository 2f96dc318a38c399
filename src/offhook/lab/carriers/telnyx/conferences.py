"""Telnyx's conferences: created around one call, joined by others."""

from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.calls import Call
from offhook.lab.carriers.core.conference_audio import Room, Seat
from offhook.lab.carriers.core.rest import Reply, Request
from offhook.lab.carriers.telnyx.replies import failure, ok

if TYPE_CHECKING:
    from offhook.lab.carriers.telnyx.server import TelnyxEmulator


def add_routes(server: "TelnyxEmulator") -> None:
    desk = _Conferences(server)
    server.route("POST", "/v2/conferences", desk.create)
    server.route("GET", "/v2/conferences", desk.listed)
    server.route("GET", "/v2/conferences/{id}", desk.fetch)
    server.route("POST", "/v2/conferences/{id}/actions/join", desk.join)
    server.route("POST", "/v2/conferences/{id}/actions/leave", desk.leave)


class _Conferences:
    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server
        self._connections: dict[str, str] = {}

    def _rendered(self, room: Room) -> dict[str, Any]:
        return {
            "record_type": "conference",
            "id": room.sid,
            "name": room.name,
            "status": "completed" if room.is_over else "in_progress" if room.has_started else "init",
            "connection_id": self._connections.get(room.sid),
            "end_reason": None,
        }

    def _room(self, request: Request) -> Room | None:
        return next((room for room in self._server.rooms.values() if room.sid == request.parts["id"]), None)

    def _live(self, body: dict[str, Any]) -> Call | Reply:
        call = self._server.call(str(body.get("call_control_id") or ""))
        if call is None:
            return failure(422, "10015", "Invalid value", "Invalid call_control_id.", "/call_control_id")
        if call.is_over:
            return failure(422, "90018", "Call has already ended", "This call is no longer active.")
        if not call.answered.is_set():
            return failure(422, "90034", "Call not answered yet", "The call has not been answered yet.")
        return call

    async def create(self, request: Request) -> Reply:
        body = request.json
        name = str(body.get("name") or "")
        if not name:
            return failure(422, "10004", "Missing required parameter", "name is required.", "/name")
        call = self._live(body)
        if isinstance(call, Reply):
            return call
        found = self._server.rooms.get(name)
        if found is not None and not found.is_over:
            return failure(422, "90033", "Conference name taken", "A conference with this name is active.", "/name")
        room = self._server.room(name)
        self._connections[room.sid] = str(call.extra.get("connection_id"))
        self._server.remember(call, body)
        self._server.tell(call, "conference.created", conference_id=room.sid)
        # who creates it starts it, unless told not to; nobody else is needed for that
        self._seat(call, room, starts=bool(body.get("start_conference_on_create", True)), ends=False)
        return ok(**self._rendered(room))

    async def join(self, request: Request) -> Reply:
        room = self._room(request)
        if room is None or room.is_over:
            return failure(404, "10005", "Resource not found", "There is no such active conference.")
        call = self._live(request.json)
        if isinstance(call, Reply):
            return call
        self._server.remember(call, request.json)
        starts = bool(request.json.get("start_conference_on_enter", True))
        self._seat(call, room, starts=starts, ends=bool(request.json.get("end_conference_on_exit")))
        return ok(result="ok")

    async def leave(self, request: Request) -> Reply:
        room = self._room(request)
        call = self._live(request.json)
        if room is None:
            return self._server.missing(request)
        if isinstance(call, Reply):
            return call
        call.connect(None)
        return ok(result="ok")

    async def fetch(self, request: Request) -> Reply:
        room = self._room(request)
        return ok(**self._rendered(room)) if room is not None else self._server.missing(request)

    async def listed(self, request: Request) -> Reply:
        name = (request.query.get("filter[name]") or [""])[0]
        rooms = [self._rendered(room) for room in self._server.rooms.values() if not name or room.name == name]
        return Reply(200, {"data": rooms, "meta": {"total_results": len(rooms)}})

    def _seat(self, call: Call, room: Room, *, starts: bool, ends: bool) -> None:
        seat = room.join(call.id, starts=starts, ends=ends)
        call.connect(seat)
        self._server.tell(call, "conference.participant.joined", conference_id=room.sid)
        self._server.tasks.start(self._until_left(call, room, seat), name="lab.telnyx.conference")

    async def _until_left(self, call: Call, room: Room, seat: Seat) -> None:
        await seat.over.wait()
        reason = "hangup" if call.is_over else "left"
        self._server.tell(call, "conference.participant.left", conference_id=room.sid, reason=reason)
        if room.is_over:
            self._server.tell(call, "conference.ended", conference_id=room.sid)
            # end_conference_on_exit hangs up everybody who is still in it
            call.end("normal", "carrier")
