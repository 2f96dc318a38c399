"""Telnyx media streaming: JSON with base64 RTP payloads. Each direction has its own codec, and we restore the order."""

import json
from binascii import b2a_base64
from typing import Any, Final

from offhook.kit.audio import ALAW_TO_MULAW
from offhook.telephony.carrier_kit.json_stream import JsonStream, require_section
from offhook.telephony.ports import MarkReached, MediaStarted, MediaStopped, WireError, WireEvent

_BEFORE_AUDIO: Final = b'{"event":"media","media":{"payload":"'
# Number of later frames kept while an earlier one is missing: 60 ms.
MAX_HELD_FRAMES: Final = 3


class TelnyxWire(JsonStream):
    """Sends PCMU, as we requested; received audio has the other leg's codec: PCMU in America, PCMA elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._is_alaw = False
        self._next_chunk = -1
        self._held: dict[int, bytes] = {}

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

    def _on_audio(self, audio: bytes, message: str) -> bytes | None:
        if self._is_alaw:
            audio = audio.translate(ALAW_TO_MULAW)
        chunk = _chunk_of(message)
        if chunk == self._next_chunk and not self._held:
            self._next_chunk = chunk + 1
            return audio
        return audio if chunk is None else self._reorder_frames(chunk, audio)

    def _reorder_frames(self, chunk: int, audio: bytes) -> bytes | None:
        if self._next_chunk < 0:
            self._next_chunk = chunk
        if chunk < self._next_chunk:
            return None
        self._held[chunk] = audio
        if len(self._held) > MAX_HELD_FRAMES and self._next_chunk not in self._held:
            self._next_chunk = min(self._held)
        ready = []
        while (frame := self._held.pop(self._next_chunk, None)) is not None:
            ready.append(frame)
            self._next_chunk += 1
        return b"".join(ready) or None

    def encode_audio(self, payload: bytes) -> bytes:
        return b'%b%b"}}' % (_BEFORE_AUDIO, b2a_base64(payload, newline=False))

    def encode_mark(self, name: str) -> bytes:
        return f'{{"event":"mark","mark":{{"name":{json.dumps(name)}}}}}'.encode()

    def encode_clear(self) -> bytes:
        return b'{"event":"clear"}'


def _chunk_of(message: str) -> int | None:
    """Returns the frame's number, which arrives as a number or as text; None when there is none."""
    at = message.find('"chunk":')
    if at < 0:
        return None
    begin = at + 8
    text = message[begin : message.find(",", begin)].strip(' "}')
    return int(text) if text.isdecimal() else None
