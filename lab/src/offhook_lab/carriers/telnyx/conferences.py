"""Telnyx's conferences: created around one call, joined by others."""

from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, RoomSeat
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.telnyx.replies import failure_reply, ok_reply

if TYPE_CHECKING:
    from offhook_lab.carriers.telnyx.server import TelnyxEmulator


def add_routes(server: "TelnyxEmulator") -> None:
    desk = _ConferenceRoutes(server)
    server.add_route("POST", "/v2/conferences", desk.create_conference)
    server.add_route("GET", "/v2/conferences", desk.list_conferences)
    server.add_route("GET", "/v2/conferences/{id}", desk.fetch_conference)
    server.add_route("POST", "/v2/conferences/{id}/actions/join", desk.join_conference)
    server.add_route("POST", "/v2/conferences/{id}/actions/leave", desk.leave_conference)


class _ConferenceRoutes:
    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server
        self._connections: dict[str, str] = {}

    def _render_conference(self, room: ConferenceRoom) -> dict[str, Any]:
        return {
            "record_type": "conference",
            "id": room.sid,
            "name": room.name,
            "status": "completed" if room.is_over else "in_progress" if room.has_started else "init",
            "connection_id": self._connections.get(room.sid),
            "end_reason": None,
        }

    def _find_room(self, request: RestRequest) -> ConferenceRoom | None:
        return next((room for room in self._server.rooms.values() if room.sid == request.parts["id"]), None)

    def _find_live_call(self, body: dict[str, Any]) -> EmulatedCall | RestReply:
        call = self._server.find_call(str(body.get("call_control_id") or ""))
        if call is None:
            return failure_reply(422, "10015", "Invalid value", "Invalid call_control_id.", "/call_control_id")
        if call.is_over:
            return failure_reply(422, "90018", "Call has already ended", "This call is no longer active.")
        if not call.answered.is_set():
            return failure_reply(422, "90034", "Call not answered yet", "The call has not been answered yet.")
        return call

    async def create_conference(self, request: RestRequest) -> RestReply:
        body = request.json
        name = str(body.get("name") or "")
        if not name:
            return failure_reply(422, "10004", "Missing required parameter", "name is required.", "/name")
        call = self._find_live_call(body)
        if isinstance(call, RestReply):
            return call
        found = self._server.rooms.get(name)
        if found is not None and not found.is_over:
            return failure_reply(
                422, "90033", "Conference name taken", "A conference with this name is active.", "/name"
            )
        room = self._server.get_room(name)
        self._connections[room.sid] = str(call.extra.get("connection_id"))
        self._server.remember_settings(call, body)
        self._server.send_event(call, "conference.created", conference_id=room.sid)
        # the creator starts it unless it says otherwise; no second participant is needed for that
        self._seat_call(call, room, starts=bool(body.get("start_conference_on_create", True)), ends=False)
        return ok_reply(**self._render_conference(room))

    async def join_conference(self, request: RestRequest) -> RestReply:
        room = self._find_room(request)
        if room is None or room.is_over:
            return failure_reply(404, "10005", "Resource not found", "There is no such active conference.")
        call = self._find_live_call(request.json)
        if isinstance(call, RestReply):
            return call
        self._server.remember_settings(call, request.json)
        starts = bool(request.json.get("start_conference_on_enter", True))
        self._seat_call(call, room, starts=starts, ends=bool(request.json.get("end_conference_on_exit")))
        return ok_reply(result="ok")

    async def leave_conference(self, request: RestRequest) -> RestReply:
        room = self._find_room(request)
        call = self._find_live_call(request.json)
        if room is None:
            return self._server.not_found_reply(request)
        if isinstance(call, RestReply):
            return call
        call.connect_to(None)
        return ok_reply(result="ok")

    async def fetch_conference(self, request: RestRequest) -> RestReply:
        room = self._find_room(request)
        return ok_reply(**self._render_conference(room)) if room is not None else self._server.not_found_reply(request)

    async def list_conferences(self, request: RestRequest) -> RestReply:
        name = (request.query.get("filter[name]") or [""])[0]
        rooms = [self._render_conference(room) for room in self._server.rooms.values() if not name or room.name == name]
        return RestReply(200, {"data": rooms, "meta": {"total_results": len(rooms)}})

    def _seat_call(self, call: EmulatedCall, room: ConferenceRoom, *, starts: bool, ends: bool) -> None:
        seat = room.join(call.id, starts=starts, ends=ends)
        call.connect_to(seat)
        self._server.send_event(call, "conference.participant.joined", conference_id=room.sid)
        self._server.tasks.start(self._until_left(call, room, seat), name="lab.telnyx.conference")

    async def _until_left(self, call: EmulatedCall, room: ConferenceRoom, seat: RoomSeat) -> None:
        await seat.over.wait()
        reason = "hangup" if call.is_over else "left"
        self._server.send_event(call, "conference.participant.left", conference_id=room.sid, reason=reason)
        if room.is_over:
            self._server.send_event(call, "conference.ended", conference_id=room.sid)
            # end_conference_on_exit hangs up all remaining participants
            call.end("normal", "carrier")
