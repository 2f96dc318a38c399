"""The commands that control a Telnyx call."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.number_formats import is_e164
from offhook_lab.carriers.core.rest import RestReply
from offhook_lab.carriers.telnyx.replies import failure_reply, ok_reply
from offhook_lab.carriers.telnyx.stream import CARRIED

if TYPE_CHECKING:
    from offhook_lab.carriers.telnyx.server import TelnyxEmulator

Command = Callable[[EmulatedCall, Mapping[str, Any]], Awaitable[RestReply]]
# Parameters that only streaming_start takes and answer ignores.
_STREAMING_START_ONLY = ("stream_auth_token", "custom_parameters", "stream_bidirectional_sampling_rate")


def stream_problem(body: Mapping[str, Any]) -> RestReply | None:
    """Returns the problem with ``stream_*`` parameters."""
    if not body.get("stream_url"):
        return None
    wrong = ""
    if not str(body["stream_url"]).startswith(("ws://", "wss://")):
        wrong = "stream_url"
    elif body.get("stream_bidirectional_mode", "mp3") not in ("mp3", "rtp"):
        wrong = "stream_bidirectional_mode"
    elif body.get("stream_track", "inbound_track") not in ("inbound_track", "outbound_track", "both_tracks"):
        wrong = "stream_track"
    elif body.get("stream_bidirectional_codec", "PCMU") not in CARRIED:
        wrong = "stream_bidirectional_codec"
    return (
        failure_reply(422, "10004", "Invalid parameter", f"The parameter {wrong} is invalid.", f"/{wrong}")
        if wrong
        else None
    )


class CallActions:
    """Runs the commands. The call has already been checked to be live."""

    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server
        self._commands: dict[str, Command] = {
            "answer": self._answer,
            "hangup": self._hangup,
            "reject": self._reject,
            "transfer": self._transfer,
            "bridge": self._bridge,
            "speak": self._speak,
            "playback_start": self._play,
            "streaming_start": self._start_stream,
            "streaming_stop": self._stop_stream,
        }
        self._needs_answer = {"bridge", "speak", "playback_start", "streaming_start", "streaming_stop", "transfer"}

    async def run_command(self, call: EmulatedCall, name: str, body: Mapping[str, Any]) -> RestReply | None:
        """Runs a command. Returns None for one that Telnyx (or the lab) does not have."""
        command = self._commands.get(name)
        if command is None:
            return None
        if name in self._needs_answer and not call.answered.is_set():
            detail = "This command can't be issued because the call has not been answered yet."
            return failure_reply(422, "90034", "Call not answered yet", detail)
        return await command(call, body)

    async def _answer(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        if call.direction != "inbound":
            return failure_reply(422, "90013", "Invalid command", "Only an incoming call can be answered.")
        if refusal := stream_problem(body):
            return refusal
        if call.answered.is_set():
            return failure_reply(422, "90053", "Call already answered", "This call has already been answered.")
        call.errors += [f"answer does not take {name}" for name in _STREAMING_START_ONLY if name in body]
        self._server.remember_settings(call, body)
        call.answer()
        if body.get("stream_url"):
            self._server.open_stream(
                call, {name: value for name, value in body.items() if name not in _STREAMING_START_ONLY}
            )
        return ok_reply(result="ok")

    async def _hangup(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        self._server.remember_settings(call, body)
        call.end("normal" if call.answered.is_set() or call.direction == "inbound" else "canceled", "api")
        return ok_reply(result="ok")

    async def _reject(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        cause = str(body.get("cause") or "")
        if cause not in ("CALL_REJECTED", "USER_BUSY"):
            return failure_reply(422, "10004", "Invalid parameter", "The parameter cause is invalid.", "/cause")
        if call.direction != "inbound" or call.answered.is_set():
            return failure_reply(422, "90013", "Invalid command", "Only a call that was not answered can be rejected.")
        call.rejected = cause
        call.end("rejected", "api")
        return ok_reply(result="ok")

    async def _transfer(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        to = str(body.get("to") or "")
        if not is_e164(to):
            return failure_reply(422, "10016", "Phone number must be in +E.164 format", "Invalid destination.", "/to")
        server = self._server
        other = server.new_call("outbound", str(body.get("from") or call.to_number), to)
        other.parent = call
        call.children.append(other)
        same = ("session_id", "connection_id", "webhook_url")
        other.extra |= {name: call.extra[name] for name in same if name in call.extra}
        target = {"webhook_url": body.get("webhook_url"), "client_state": body.get("target_leg_client_state")}
        server.remember_settings(other, target)
        server.remember_settings(call, {"client_state": body.get("client_state")})
        settings = {name: value for name, value in body.items() if not name.startswith("stream_")}
        server.dial_call(other, settings)
        # the caller stays put until the other leg answers
        call.run_beside(self._bridge_when_answered(call, other, parks=body.get("park_after_unbridge") == "self"))
        other.run_beside(_cancel_with(call, other))
        return ok_reply(result="ok")

    async def _bridge_when_answered(self, call: EmulatedCall, other: EmulatedCall, *, parks: bool) -> None:
        await other.answered.wait()
        await self._run_bridge(call, other, parks=parks)

    async def _run_bridge(self, call: EmulatedCall, other: EmulatedCall, *, parks: bool) -> None:
        """Bridges both legs. ?? Whether a running stream continues is not documented: here it stops."""
        for leg in (call, other):
            self._server.send_event(leg, "call.bridged")
        await self._server.bridge_calls(call, other)
        for leg in (other, call):
            if not leg.is_over and not (parks and leg is call):
                leg.end("normal", "carrier")

    async def _bridge(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        other = self._server.find_call(str(body.get("call_control_id") or ""))
        if other is None or other is call:
            return failure_reply(422, "10015", "Invalid value", "Invalid call_control_id.", "/call_control_id")
        if other.is_over:
            return failure_reply(422, "90018", "Call has already ended", "The other call is no longer active.")
        if not other.answered.is_set():
            return failure_reply(422, "90034", "Call not answered yet", "The other call has not been answered yet.")
        self._server.tasks.start(
            self._run_bridge(call, other, parks=body.get("park_after_unbridge") == "self"), name="lab.telnyx.bridge"
        )
        return ok_reply(result="ok")

    async def _speak(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        for name in ("payload", "voice"):
            if not body.get(name):
                return failure_reply(422, "10004", "Missing required parameter", f"{name} is required.", f"/{name}")
        self._server.remember_settings(call, body)
        call.run_beside(self._run_speech(call, str(body["payload"])))
        return ok_reply(result="ok")

    async def _run_speech(self, call: EmulatedCall, text: str) -> None:
        self._server.send_event(call, "call.speak.started")
        await self._server.say_text(call, text)
        self._server.send_event(call, "call.speak.ended", status="completed")

    async def _play(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        url = str(body.get("audio_url") or "")
        if not url.startswith(("http://", "https://")):
            return failure_reply(422, "10004", "Missing required parameter", "audio_url is required.", "/audio_url")
        self._server.remember_settings(call, body)
        call.run_beside(self._run_playback(call, url))
        return ok_reply(result="ok")

    async def _run_playback(self, call: EmulatedCall, url: str) -> None:
        self._server.send_event(call, "call.playback.started", media_url=url)
        before = len(call.errors)
        await self._server.play_url(call, url)
        status = "completed" if len(call.errors) == before else "file_not_found"
        self._server.send_event(call, "call.playback.ended", media_url=url, status=status)

    async def _start_stream(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        if not body.get("stream_url"):
            return failure_reply(422, "10004", "Missing required parameter", "stream_url is required.", "/stream_url")
        if refusal := stream_problem(body):
            return refusal
        self._server.remember_settings(call, body)
        self._server.open_stream(call, body)
        return ok_reply(result="ok")

    async def _stop_stream(self, call: EmulatedCall, body: Mapping[str, Any]) -> RestReply:
        self._server.remember_settings(call, body)
        if call.stream is not None and call.peer is call.stream:
            call.connect_to(None)
        return ok_reply(result="ok")


async def _cancel_with(call: EmulatedCall, other: EmulatedCall) -> None:
    """Cancels the other leg when the caller leaves before it answers."""
    await call.ended.wait()
    if not other.answered.is_set():
        other.end("canceled", "caller")
