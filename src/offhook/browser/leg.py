"""The caller's end of a browser call: PCM16 at 16 kHz in binary messages, everything else as JSON text."""

import json
from typing import Any, Final, Protocol

import structlog

from offhook.kit.audio import PCM16_16K, Codec
from offhook.kit.sockets import GOING_AWAY, NORMAL, PushSocket
from offhook.runs import RunFinished
from offhook.voice.events import VoiceEvent

BAD_MESSAGE: Final = 4400
REFUSED: Final = 4401
NOT_CONNECTABLE: Final = 4409
FAULT: Final = 1011
MAX_TEXT_BYTES: Final = 4096
MAX_NAME: Final = 200
# What the caller says while the call is set up: one second.
MAX_EARLY_BYTES: Final = 32_000
_DIGITS: Final = frozenset("0123456789*#ABCD")
log = structlog.get_logger(__name__)


class Ears(Protocol):
    """The part of ``voice.CallSession`` that a leg feeds."""

    def feed_audio(self, payload: bytes) -> None: ...
    def feed_digit(self, digit: str) -> None: ...
    def feed_mark(self, name: str) -> None: ...
    def leg_ended(self, reason: str = "caller_hung_up") -> None: ...
    def stop(self, reason: str = "server_stopped") -> None: ...


class BadMessage(Exception):
    """The browser sent something that has no meaning: one sentence."""


class BrowserLeg:
    """A ``voice.ports.CallLeg`` and the ``kit.sockets.Receiver`` of its socket, which never blocks and bounds its buffer."""

    def __init__(self) -> None:
        self._socket: PushSocket | None = None
        self._ears: Ears | None = None
        self._early: list[bytes] = []
        self._early_bytes = 0
        self._ended_as: str | None = None

    def attach_socket(self, socket: PushSocket) -> None:
        self._socket = socket

    def attach_session(self, ears: Ears) -> None:
        """From here the session hears everything, first of all what came while it was made."""
        self._ears = ears
        for payload in self._early:
            ears.feed_audio(payload)
        self._early.clear()
        if self._ended_as is not None:
            self._tell_end(ears, self._ended_as)

    @property
    def is_open(self) -> bool:
        return self._ended_as is None

    # CallLeg

    @property
    def codec(self) -> Codec:
        return PCM16_16K

    def send_frame(self, payload: bytes) -> None:
        if self._socket is not None and self._ended_as is None:
            self._socket.send_binary(payload)

    def send_mark(self, name: str) -> None:
        self.send({"type": "mark", "name": name})

    def clear(self) -> None:
        self.send({"type": "clear"})

    def send_event(self, event: VoiceEvent) -> None:
        shown = {"type": event.type, "at_ms": round(event.at_s * 1000), "data": event.data}
        self.send({"type": "event", "event": shown})

    async def hang_up(self) -> None:
        """Nothing to do at a carrier; the socket is closed when the end of the run is stored and was shown."""

    def send_ended(self, finished: RunFinished | None) -> None:
        """The last message: how the run ended."""
        if finished is not None:
            self.send(
                {
                    "type": "ended",
                    "status": finished.status,
                    "outcome": finished.outcome,
                    "end_reason": finished.end_reason,
                }
            )

    def send_error(self, code: str, detail: str) -> None:
        self.send({"type": "error", "code": code, "detail": detail})

    def send(self, message: dict[str, Any]) -> None:
        if self._socket is not None and self._ended_as is None:
            self._socket.send_text(json.dumps(message, default=str).encode())

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._socket is not None:
            self._socket.close(code, reason)

    # Receiver

    def on_binary(self, payload: bytes) -> None:
        if self._ended_as is not None:
            return
        if len(payload) % 2:
            self._refuse("audio is PCM16: an even number of bytes")
        elif self._ears is not None:
            self._guarded(self._ears.feed_audio, payload)
        elif self._early_bytes + len(payload) <= MAX_EARLY_BYTES:
            self._early.append(payload)
            self._early_bytes += len(payload)

    def on_text(self, text: str) -> None:
        if self._ended_as is not None:
            return
        try:
            self._obey(*_parse(text))
        except BadMessage as error:
            self._refuse(str(error))

    def on_closed(self, code: int, reason: str) -> None:
        if code == GOING_AWAY and reason == "the server stops":
            self._end("server_stopped")
        else:
            # A page that is closed or navigates away says 1000 or 1001: its person hung up. All else is a lost line.
            self._end("caller_hung_up" if code in {NORMAL, GOING_AWAY} else "media_lost")

    # inside

    def _obey(self, kind: str, value: str) -> None:
        if kind == "hangup":
            # The socket stays open for the messages that follow the end.
            if self._ears is not None:
                self._ears.leg_ended("caller_hung_up")
            else:
                self._end("caller_hung_up")
        elif self._ears is None:
            return
        elif kind == "dtmf":
            self._guarded(self._ears.feed_digit, value)
        else:
            self._guarded(self._ears.feed_mark, value)

    def _guarded(self, feed: Any, value: Any) -> None:
        try:
            feed(value)
        except Exception:  # the media-socket edge: one call's fault must not reach the loop's other calls
            log.exception("browser_message_failed")
            self.close(FAULT, "this call failed")

    def _refuse(self, reason: str) -> None:
        self.send_error("bad_message", reason)
        self.close(BAD_MESSAGE, reason)

    def _end(self, reason: str) -> None:
        if self._ended_as is None:
            self._ended_as = reason
            if self._ears is not None:
                self._tell_end(self._ears, reason)

    def _tell_end(self, ears: Ears, reason: str) -> None:
        if reason == "server_stopped":
            ears.stop(reason)
        else:
            ears.leg_ended(reason)


def _parse(text: str) -> tuple[str, str]:
    """(kind, value) of a control message; BadMessage says what is wrong with it."""
    if len(text) > MAX_TEXT_BYTES:
        raise BadMessage("a control message may have 4096 bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("a text message must be JSON") from None
    kind = message.get("type") if isinstance(message, dict) else None
    if kind == "hangup":
        return kind, ""
    if kind == "dtmf":
        digit = message.get("digit")
        if not isinstance(digit, str) or digit not in _DIGITS:
            raise BadMessage("a digit is one of 0-9, *, #, A-D")
        return kind, digit
    if kind == "mark":
        name = message.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            raise BadMessage("a mark has a name of 1 to 200 characters")
        return kind, name
    raise BadMessage("a message has the type mark, dtmf or hangup")
