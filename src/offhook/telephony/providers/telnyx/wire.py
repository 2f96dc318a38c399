"""Telnyx media streaming: JSON with base64 RTP payloads. Each direction has its own codec."""

import json
from binascii import b2a_base64
from typing import Any, Final

from offhook.kit.audio import ALAW_TO_MULAW
from offhook.telephony.carrier_kit.json_stream import JsonStream, require_section
from offhook.telephony.ports import MarkReached, MediaStarted, MediaStopped, WireError, WireEvent

_BEFORE_AUDIO: Final = b'{"event":"media","media":{"payload":"'


class TelnyxWire(JsonStream):
    """Sends PCMU, as we requested; received audio has the other leg's codec: PCMU in America, PCMA elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._is_alaw = False

    def _parse_event(self, event: str, envelope: dict[str, Any]) -> WireEvent | None:
        if event == "mark":
            return MarkReached(str(require_section(envelope, "mark").get("name", "")))
        return MediaStopped() if event == "stop" else None

    def _parse_start(self, envelope: dict[str, Any]) -> MediaStarted:
        start = require_section(envelope, "start")
        stream = envelope.get("stream_id") or start.get("stream_id")
        if not isinstance(stream, str) or not stream:
            raise WireError("stream_id is missing")
        form = require_section(start, "media_format")
        encoding, rate = str(form.get("encoding", "")).upper(), str(form.get("sample_rate", "8000"))
        if encoding not in {"PCMU", "PCMA"} or rate != "8000":
            raise WireError("only PCMU and PCMA at 8000 Hz are carried")
        self._is_alaw = encoding == "PCMA"
        # Only the caller's track is requested.
        self._is_started = self._is_lean = True
        call_id = start.get("call_control_id")
        parameters = start.get("custom_parameters")
        return MediaStarted(
            stream_id=stream,
            call_id=call_id if isinstance(call_id, str) else None,
            parameters=parameters if isinstance(parameters, dict) else {},
        )

    def _convert_audio(self, audio: bytes) -> bytes:
        return audio.translate(ALAW_TO_MULAW) if self._is_alaw else audio

    def encode_audio(self, payload: bytes) -> bytes:
        return b'%b%b"}}' % (_BEFORE_AUDIO, b2a_base64(payload, newline=False))

    def encode_mark(self, name: str) -> bytes:
        return f'{{"event":"mark","mark":{{"name":{json.dumps(name)}}}}}'.encode()

    def encode_clear(self) -> bytes:
        return b'{"event":"clear"}'
