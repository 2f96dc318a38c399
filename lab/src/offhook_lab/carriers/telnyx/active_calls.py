"""The list of a connection's live calls."""

from typing import TYPE_CHECKING

from offhook_lab.carriers.core.rest import RestReply, RestRequest

if TYPE_CHECKING:
    from offhook_lab.carriers.telnyx.server import TelnyxEmulator

_SHOWN = ("record_type", "call_control_id", "call_leg_id", "call_session_id", "client_state")


def add_routes(server: "TelnyxEmulator") -> None:
    async def list_active_calls(request: RestRequest) -> RestReply:
        """Returns pages with a cursor; a finished call is no longer listed."""
        connection = request.parts["id"]
        if not server.is_seen(request, connection):
            return server.not_found_reply(request)
        live = [call for call in server.live_calls if call.extra.get("connection_id") == connection]
        most = int((request.query.get("page[limit]") or ["20"])[0])
        begin = int((request.query.get("page[after]") or ["0"])[0])
        data = []
        for call in live[begin : begin + most]:
            said = server.render_call(call)
            data.append({**{name: said[name] for name in _SHOWN}, "call_duration": call.duration_s})
        end = begin + len(data)
        more = f"/v2/connections/{connection}/active_calls?page[after]={end}" if end < len(live) else None
        cursors = {"after": str(end), "before": str(begin)}
        return RestReply(200, {"data": data, "meta": {"total_items": len(live), "cursors": cursors, "next": more}})

    server.add_route("GET", "/v2/connections/{id}/active_calls", list_active_calls)
