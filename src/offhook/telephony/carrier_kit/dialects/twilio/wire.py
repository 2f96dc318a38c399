"""The dialect's media stream: JSON text messages with base64 mu-law at 8 kHz; numbers in the envelope are strings."""

import json
from binascii import b2a_base64
from typing import Any

from offhook.telephony.carrier_kit.json_stream import JsonStream, require_mulaw_8k, require_section
from offhook.telephony.ports import MarkReached, MediaStarted, MediaStopped, WireError, WireEvent


class TwilioDialectWire(JsonStream):
    """One media stream. ``encode``, ``mark`` and ``clear`` need its id, so they come after ``start``. ``call_key``
    is the field of the start message that names the call."""

    call_key = "callSid"

    def __init__(self) -> None:
        super().__init__()
        self._before_audio = b""
        self._stream = ""

    def _parse_event(self, event: str, envelope: dict[str, Any]) -> WireEvent | None:
        if event == "mark":
            return MarkReached(str(require_section(envelope, "mark").get("name", "")))
        return MediaStopped() if event == "stop" else None

    def _parse_start(self, envelope: dict[str, Any]) -> MediaStarted:
        start = require_section(envelope, "start")
        stream = start.get("streamSid") or envelope.get("streamSid")
        if not isinstance(stream, str) or not stream:
            raise WireError("start.streamSid is missing")
        require_mulaw_8k(start.get("mediaFormat"))
        tracks = start.get("tracks")
        self._is_lean = not isinstance(tracks, list) or "outbound" not in tracks
        self._is_started = True
        self._stream = json.dumps(stream)
        self._before_audio = f'{{"event":"media","streamSid":{self._stream},"media":{{"payload":"'.encode()
        call_id = start.get(self.call_key)
        parameters = start.get("customParameters")
        return MediaStarted(
            stream_id=stream,
            call_id=call_id if isinstance(call_id, str) else None,
            parameters=parameters if isinstance(parameters, dict) else {},
        )

    def encode_audio(self, payload: bytes) -> bytes:
        return b'%b%b"}}' % (self._before_audio, b2a_base64(payload, newline=False))

    def encode_mark(self, name: str) -> bytes:
        return f'{{"event":"mark","streamSid":{self._stream},"mark":{{"name":{json.dumps(name)}}}}}'.encode()

    def encode_clear(self) -> bytes:
        return f'{{"event":"clear","streamSid":{self._stream}}}'.encode()
