"""Vonage's media socket: binary linear PCM at 16 kHz, frames of exactly 20 ms from us, everything else as JSON
texts."""

import json
from typing import Final

from offhook.kit.audio import PCM16_16K, Codec
from offhook.kit.media_sockets.sockets import GOING_AWAY, NORMAL
from offhook.telephony.carrier_kit.json_stream import parse_digit, parse_envelope
from offhook.telephony.ports import MarkReached, MediaStarted, WireError, WireEvent

FRAME: Final = PCM16_16K.frame_bytes
_NO_STATUS: Final = 1005


class VonageWire:
    """One media socket. The call ends when the socket closes; it hears all other legs of the conversation."""

    has_binary_audio = True
    confirms_playback = True
    clean_close_codes = frozenset({NORMAL, GOING_AWAY, _NO_STATUS})

    def __init__(self) -> None:
        self.codec: Codec = PCM16_16K
        self._is_started = False
        # The return of a cleared mark is not documented: the confirmation of the clear stands in for it.
        self._last_mark: str | None = None
        self._cleared_mark: str | None = None

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        """Decodes a message. Audio can arrive before the socket's first message."""
        if isinstance(message, bytes):
            return message
        envelope = parse_envelope(message)
        match envelope.get("event"):
            case "websocket:connected":
                return self._start_stream(envelope.get("content-type"), envelope.get("call_id"))
            case "websocket:dtmf":
                nested = envelope.get("dtmf")
                return parse_digit(nested.get("digit") if isinstance(nested, dict) else envelope.get("digit"))
            case "websocket:notify":
                payload = envelope.get("payload")
                return MarkReached(str(payload.get("mark", ""))) if isinstance(payload, dict) else None
            case "websocket:cleared":
                cleared, self._cleared_mark = self._cleared_mark, None
                return MarkReached(cleared) if cleared is not None else None
            case str():
                return None
        raise WireError("a message needs an event")

    def _start_stream(self, content_type: object, call_id: object) -> MediaStarted:
        if self._is_started:
            raise WireError("connected came twice")
        if isinstance(content_type, str) and "rate=16000" not in content_type.replace(" ", ""):
            raise WireError("only audio/l16 at 16000 Hz is carried")
        self._is_started = True
        known = call_id if isinstance(call_id, str) and call_id else None
        return MediaStarted(stream_id=known or "vonage", call_id=known)

    def encode_audio(self, payload: bytes) -> bytes:
        return payload if len(payload) == FRAME else payload[:FRAME].ljust(FRAME, b"\0")

    def encode_mark(self, name: str) -> bytes:
        self._last_mark = name
        return f'{{"action":"notify","payload":{{"mark":{json.dumps(name)}}}}}'.encode()

    def encode_clear(self) -> bytes:
        self._cleared_mark, self._last_mark = self._last_mark or self._cleared_mark, None
        return b'{"action":"clear"}'
