"""The dialect's media stream: JSON with base64 mu-law; ``playAudio``, ``checkpoint`` and ``clearAudio``."""

import json
from binascii import b2a_base64
from typing import Any

from offhook.kit.media_sockets.sockets import GOING_AWAY, NORMAL
from offhook.telephony.carrier_kit.json_stream import JsonStream, require_mulaw_8k, require_section
from offhook.telephony.ports import MarkReached, MediaStarted, MediaStopped, WireError, WireEvent

_NO_STATUS = 1005


class PlivoDialectWire(JsonStream):
    """One media stream. The call ends when the socket closes."""

    clean_close_codes = frozenset({NORMAL, GOING_AWAY, _NO_STATUS})

    def __init__(self) -> None:
        super().__init__()
        self._before_audio = b""
        self._stream = ""
        # A cleared checkpoint never comes back: the confirmation of the clear stands in for it.
        self._last_mark: str | None = None
        self._cleared_mark: str | None = None

    def _parse_start(self, envelope: dict[str, Any]) -> MediaStarted:
        start = require_section(envelope, "start")
        stream = start.get("streamId") or envelope.get("streamId")
        if not isinstance(stream, str) or not stream:
            raise WireError("start.streamId is missing")
        require_mulaw_8k(start.get("mediaFormat"))
        tracks = start.get("tracks")
        self._is_lean = not isinstance(tracks, list) or "outbound" not in tracks
        self._is_started = True
        self._stream = json.dumps(stream)
        self._before_audio = (
            f'{{"event":"playAudio","streamId":{self._stream},"media":'
            '{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"'
        ).encode()
        call_id = start.get("callId")
        return MediaStarted(stream_id=stream, call_id=call_id if isinstance(call_id, str) else None)

    def _parse_event(self, event: str, envelope: dict[str, Any]) -> WireEvent | None:
        if event == "playedStream":
            return MarkReached(str(envelope.get("name", "")))
        if event == "clearedAudio":
            cleared, self._cleared_mark = self._cleared_mark, None
            return MarkReached(cleared) if cleared is not None else None
        return MediaStopped() if event == "stop" else None

    def encode_audio(self, payload: bytes) -> bytes:
        return b'%b%b"}}' % (self._before_audio, b2a_base64(payload, newline=False))

    def encode_mark(self, name: str) -> bytes:
        self._last_mark = name
        return f'{{"event":"checkpoint","streamId":{self._stream},"name":{json.dumps(name)}}}'.encode()

    def encode_clear(self) -> bytes:
        self._cleared_mark, self._last_mark = self._last_mark or self._cleared_mark, None
        return f'{{"event":"clearAudio","streamId":{self._stream}}}'.encode()
