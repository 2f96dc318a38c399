"""The caller's end of a browser call: PCM16 at 16 kHz in binary messages, everything else as JSON text."""

import json
from collections.abc import Mapping
from typing import Final

from offhook.kit.audio import PCM16_16K
from offhook.kit.media_sockets.sockets import GOING_AWAY, NORMAL
from offhook.voice.events import VoiceEvent
from offhook.voice.socket_leg import BAD_MESSAGE, SocketLeg

MAX_TEXT_BYTES: Final = 4096
MAX_MARK_NAME: Final = 200
_DIGITS: Final = frozenset("0123456789*#ABCD")


class BadMessage(Exception):
    """The browser sent an invalid message; one sentence says why."""


class BrowserLeg(SocketLeg):
    """A ``voice.ports.CallLeg`` and its socket's ``MessageReceiver``, which never blocks and bounds its buffer."""

    # a page that is closed or navigates away sends 1000 or 1001: its user hung up
    clean_close_codes = frozenset({NORMAL, GOING_AWAY})
    confirms_playback = True

    def __init__(self) -> None:
        super().__init__(PCM16_16K)

    # CallLeg

    def send_frame(self, payload: bytes) -> None:
        if self._socket is not None and self._end_reason is None:
            self._socket.send_binary(payload)

    def send_mark(self, name: str) -> None:
        self.send_json({"type": "mark", "name": name})

    def clear_buffer(self) -> None:
        self.send_json({"type": "clear"})

    def send_event(self, event: VoiceEvent) -> None:
        shown = {"type": event.type, "at_ms": round(event.at_s * 1000), "data": event.data}
        self.send_json({"type": "event", "event": shown})

    async def hang_up(self) -> None:
        """Does nothing, as there is no carrier; the socket closes once the run's end is stored and shown."""

    def send_error(self, code: str, detail: str) -> None:
        self.send_json({"type": "error", "code": code, "detail": detail})

    def send_json(self, message: Mapping[str, object]) -> None:
        if self._socket is not None and self._end_reason is None:
            self._socket.send_text(json.dumps(message, default=str).encode())

    # MessageReceiver

    def on_binary(self, payload: bytes) -> None:
        if self._end_reason is not None:
            return
        if len(payload) % 2:
            self._reject_message("audio is PCM16: an even number of bytes")
        else:
            self._run_guarded(self._receive_audio, payload)

    def on_text(self, text: str) -> None:
        if self._end_reason is not None:
            return
        try:
            kind, value = _parse_control(text)
        except BadMessage as error:
            self._reject_message(str(error))
            return
        if kind == "hangup":
            # The socket stays open for the messages that follow the end.
            if self._input is not None:
                self._input.end_call("caller_hung_up")
            else:
                self._end_once("caller_hung_up")
        elif self._input is None:
            return
        elif kind == "dtmf":
            self._run_guarded(self._input.feed_digit, value)
        else:
            self._run_guarded(self._input.feed_mark, value)

    def _reject_message(self, reason: str) -> None:
        self.send_error("bad_message", reason)
        self.close(BAD_MESSAGE, reason)


def _parse_control(text: str) -> tuple[str, str]:
    """Returns (kind, value) of a control message. Raises BadMessage with the reason."""
    if len(text) > MAX_TEXT_BYTES:
        raise BadMessage("a control message has at most 4096 bytes")
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
        if not isinstance(name, str) or not 0 < len(name) <= MAX_MARK_NAME:
            raise BadMessage("a mark has a name of 1 to 200 characters")
        return kind, name
    raise BadMessage("a message has the type mark, dtmf or hangup")
