"""Both ends of the sandbox's media format: mu-law as binary messages, everything else as small JSON texts."""

import json
from typing import Final

from offhook.kit.audio import MULAW_8K, Codec
from offhook.kit.media_sockets.sockets import PushSocket
from offhook.telephony.carrier_kit.json_stream import parse_envelope
from offhook.telephony.media.simulated_phone import DropAudio, PlayAudio, PlayMark, PlayoutOrder
from offhook.telephony.ports import (
    DigitPressed,
    MachineAnswered,
    MarkReached,
    MediaStarted,
    MediaStopped,
    WireError,
    WireEvent,
)
from offhook.voice.events import AGENT_SPEAKING, NODE_ENTERED, VoiceEvent

CAPTIONED: Final = frozenset({AGENT_SPEAKING, NODE_ENTERED})
_DIGITS: Final = frozenset("0123456789*#")


class SandboxWire:
    """The platform's end."""

    has_binary_audio = True
    confirms_playback = True

    def __init__(self) -> None:
        self.codec: Codec = MULAW_8K
        self._has_captions = False

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        if isinstance(message, bytes):
            return message
        found = parse_envelope(message)
        match found.get("type"):
            case "start":
                call_id = str(found.get("call_id", ""))
                self._has_captions = found.get("captions") is True
                return MediaStarted(stream_id=call_id, call_id=call_id)
            case "mark":
                return MarkReached(str(found.get("name", "")))
            case "digit" if found.get("digit") in _DIGITS:
                return DigitPressed(found["digit"])
            case "machine":
                return MachineAnswered()
            case "stop":
                return MediaStopped()
        raise WireError("unknown message")

    def encode_audio(self, payload: bytes) -> bytes:
        return payload

    def encode_mark(self, name: str) -> bytes:
        return json.dumps({"type": "mark", "name": name}).encode()

    def encode_clear(self) -> bytes:
        return b'{"type":"clear"}'

    def encode_caption(self, event: VoiceEvent) -> bytes | None:
        """Encodes an agent's action for a simulated callee at the other end of a socket that asked to read along."""
        if not self._has_captions or event.type not in CAPTIONED:
            return None
        return json.dumps({"type": "event", "event": event.type, "at_s": event.at_s, "data": dict(event.data)}).encode()


def read_caption(message: str) -> VoiceEvent | None:
    """Returns the event in a caption; None when the message is none."""
    found = parse_envelope(message)
    if found.get("type") != "event":
        return None
    return VoiceEvent(str(found.get("event")), float(found.get("at_s", 0)), found.get("data") or {})


class PhoneWire:
    """The phone's end. Implements ``FarWire``."""

    def __init__(self, socket: PushSocket) -> None:
        self._socket = socket

    def _send_json(self, **message: str) -> None:
        self._socket.send_text(json.dumps(message).encode())

    def decode(self, message: str | bytes) -> PlayoutOrder | None:
        if isinstance(message, bytes):
            return PlayAudio(message)
        found = parse_envelope(message)
        return PlayMark(found["name"]) if found.get("type") == "mark" else DropAudio()

    def send_start(self, call_id: str) -> None:
        self._send_json(type="start", call_id=call_id)

    def send_audio(self, payload: bytes) -> None:
        self._socket.send_binary(payload)

    def send_mark(self, name: str) -> None:
        self._send_json(type="mark", name=name)

    def send_digit(self, digit: str) -> None:
        self._send_json(type="digit", digit=digit)

    def send_machine(self) -> None:
        self._send_json(type="machine")

    def send_stop(self) -> None:
        self._send_json(type="stop")
