"""The commands by which a Telnyx call is steered."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.calls import Call
from offhook.lab.carriers.core.number_formats import is_e164
from offhook.lab.carriers.core.rest import Reply
from offhook.lab.carriers.telnyx.replies import failure, ok
from offhook.lab.carriers.telnyx.stream import CARRIED

if TYPE_CHECKING:
    from offhook.lab.carriers.telnyx.server import TelnyxEmulator

Command = Callable[[Call, Mapping[str, Any]], Awaitable[Reply]]
# What only streaming_start takes, and answer ignores.
_LATER = ("stream_auth_token", "custom_parameters", "stream_bidirectional_sampling_rate")


def stream_problem(body: Mapping[str, Any]) -> Reply | None:
    """What is wrong with ``stream_*`` parameters."""
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
        failure(422, "10004", "Invalid parameter", f"The parameter {wrong} is invalid.", f"/{wrong}") if wrong else None
    )


class Actions:
    """What they do. Whether the call is still up was asked before."""

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

    async def run(self, call: Call, name: str, body: Mapping[str, Any]) -> Reply | None:
        """None for a command that Telnyx (or the lab) does not have."""
        command = self._commands.get(name)
        if command is None:
            return None
        if name in self._needs_answer and not call.answered.is_set():
            detail = "This command can't be issued because the call has not been answered yet."
            return failure(422, "90034", "Call not answered yet", detail)
        return await command(call, body)

    async def _answer(self, call: Call, body: Mapping[str, Any]) -> Reply:
        if call.direction != "inbound":
            return failure(422, "90013", "Invalid command", "Only an incoming call can be answered.")
        if refusal := stream_problem(body):
            return refusal
        if call.answered.is_set():
            return failure(422, "90053", "Call already answered", "This call has already been answered.")
        call.errors += [f"answer does not take {name}" for name in _LATER if name in body]
        self._server.remember(call, body)
        call.answer()
        if body.get("stream_url"):
            self._server.open_stream(call, {name: value for name, value in body.items() if name not in _LATER})
        return ok(result="ok")

    async def _hangup(self, call: Call, body: Mapping[str, Any]) -> Reply:
        self._server.remember(call, body)
        call.end("normal" if call.answered.is_set() or call.direction == "inbound" else "canceled", "api")
        return ok(result="ok")

    async def _reject(self, call: Call, body: Mapping[str, Any]) -> Reply:
        cause = str(body.get("cause") or "")
        if cause not in ("CALL_REJECTED", "USER_BUSY"):
            return failure(422, "10004", "Invalid parameter", "The parameter cause is invalid.", "/cause")
        if call.direction != "inbound" or call.answered.is_set():
            return failure(422, "90013", "Invalid command", "Only a call that was not answered can be rejected.")
        call.rejected = cause
        call.end("rejected", "api")
        return ok(result="ok")

    async def _transfer(self, call: Call, body: Mapping[str, Any]) -> Reply:
        to = str(body.get("to") or "")
        if not is_e164(to):
            return failure(422, "10016", "Phone number must be in +E.164 format", "Invalid destination.", "/to")
        server = self._server
        other = server.new_call("outbound", str(body.get("from") or call.to_number), to)
        other.parent = call
        call.children.append(other)
        same = ("session_id", "connection_id", "webhook_url")
        other.extra |= {name: call.extra[name] for name in same if name in call.extra}
        target = {"webhook_url": body.get("webhook_url"), "client_state": body.get("target_leg_client_state")}
        server.remember(other, target)
        server.remember(call, {"client_state": body.get("client_state")})
        settings = {name: value for name, value in body.items() if not name.startswith("stream_")}
        server.dial(other, settings)
        # the caller stays where it is until somebody answers
        call.beside(self._bridge_when_answered(call, other, parks=body.get("park_after_unbridge") == "self"))
        other.beside(_cancel_with(call, other))
        return ok(result="ok")

    async def _bridge_when_answered(self, call: Call, other: Call, *, parks: bool) -> None:
        await other.answered.wait()
        await self._bridged(call, other, parks=parks)

    async def _bridged(self, call: Call, other: Call, *, parks: bool) -> None:
        """Both legs hear each other. ?? whether a running stream goes on is not documented: here it stops."""
        for leg in (call, other):
            self._server.tell(leg, "call.bridged")
        await self._server.bridge(call, other)
        for leg in (other, call):
            if not leg.is_over and not (parks and leg is call):
                leg.end("normal", "carrier")

    async def _bridge(self, call: Call, body: Mapping[str, Any]) -> Reply:
        other = self._server.call(str(body.get("call_control_id") or ""))
        if other is None or other is call:
            return failure(422, "10015", "Invalid value", "Invalid call_control_id.", "/call_control_id")
        if other.is_over:
            return failure(422, "90018", "Call has already ended", "The other call is no longer active.")
        if not other.answered.is_set():
            return failure(422, "90034", "Call not answered yet", "The other call has not been answered yet.")
        self._server.tasks.start(
            self._bridged(call, other, parks=body.get("park_after_unbridge") == "self"), name="lab.telnyx.bridge"
        )
        return ok(result="ok")

    async def _speak(self, call: Call, body: Mapping[str, Any]) -> Reply:
        for name in ("payload", "voice"):
            if not body.get(name):
                return failure(422, "10004", "Missing required parameter", f"{name} is required.", f"/{name}")
        self._server.remember(call, body)
        call.beside(self._spoken(call, str(body["payload"])))
        return ok(result="ok")

    async def _spoken(self, call: Call, text: str) -> None:
        self._server.tell(call, "call.speak.started")
        await self._server.say(call, text)
        self._server.tell(call, "call.speak.ended", status="completed")

    async def _play(self, call: Call, body: Mapping[str, Any]) -> Reply:
        url = str(body.get("audio_url") or "")
        if not url.startswith(("http://", "https://")):
            return failure(422, "10004", "Missing required parameter", "audio_url is required.", "/audio_url")
        self._server.remember(call, body)
        call.beside(self._played(call, url))
        return ok(result="ok")

    async def _played(self, call: Call, url: str) -> None:
        self._server.tell(call, "call.playback.started", media_url=url)
        before = len(call.errors)
        await self._server.play(call, url)
        status = "completed" if len(call.errors) == before else "file_not_found"
        self._server.tell(call, "call.playback.ended", media_url=url, status=status)

    async def _start_stream(self, call: Call, body: Mapping[str, Any]) -> Reply:
        if not body.get("stream_url"):
            return failure(422, "10004", "Missing required parameter", "stream_url is required.", "/stream_url")
        if refusal := stream_problem(body):
            return refusal
        self._server.remember(call, body)
        self._server.open_stream(call, body)
        return ok(result="ok")

    async def _stop_stream(self, call: Call, body: Mapping[str, Any]) -> Reply:
        self._server.remember(call, body)
        if call.stream is not None and call.side is call.stream:
            call.connect(None)
        return ok(result="ok")


async def _cancel_with(call: Call, other: Call) -> None:
    """The caller is gone before the other one was reached."""
    await call.ended.wait()
    if not other.answered.is_set():
        other.end("canceled", "caller")
