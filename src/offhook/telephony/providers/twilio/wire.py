"""Twilio Media Streams: JSON text messages with base64 mu-law at 8 kHz; numbers in the envelope are strings."""

import json
from binascii import a2b_base64, b2a_base64
from typing import Any, Final

from offhook.kit.audio import MULAW_8K, Codec
from offhook.telephony.ports import Digit, MarkReached, Started, Stopped, WireError, WireEvent

# Both spacings that JSON writers use. A quote inside a JSON string is always escaped, so that these can only be found
# where a key really stands: cutting the payload out is as safe as parsing, and costs a tenth.
_MEDIA: Final = ('{"event":"media"', '{"event": "media"')
_PAYLOAD: Final = ('"payload":"', '"payload": "')
_DIGITS: Final = frozenset("0123456789*#ABCD")


class TwilioWire:
    """One stream. ``encode``, ``mark`` and ``clear`` need its id and so come after ``start``."""

    has_binary_audio = False

    def __init__(self) -> None:
        self.codec: Codec = MULAW_8K
        self._is_started = False
        self._has_only_inbound = True
        self._before_audio = b""
        self._stream = ""

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        if isinstance(message, bytes):
            raise WireError("binary messages are not part of this protocol")
        if message.startswith(_MEDIA) and self._is_started and self._has_only_inbound:
            for key in _PAYLOAD:
                at = message.find(key)
                if at > 0:
                    begin = at + len(key)
                    return _audio(message[begin : message.find('"', begin)])
        return self._parse(message)

    def _parse(self, message: str) -> bytes | WireEvent | None:
        try:
            envelope = json.loads(message)
        except (ValueError, RecursionError):
            raise WireError("not a JSON object") from None
        if not isinstance(envelope, dict):
            raise WireError("not a JSON object")
        event = envelope.get("event")
        if not isinstance(event, str):
            raise WireError("a message needs an event")
        if event == "connected":
            return None
        if event == "start":
            return self._start(envelope)
        if not self._is_started:
            raise WireError(f"{event[:20]} before start")
        if event == "media":
            media = _part(envelope, "media")
            if media.get("track") == "outbound":
                return None
            return _audio(media.get("payload"))
        if event == "mark":
            return MarkReached(str(_part(envelope, "mark").get("name", "")))
        if event == "dtmf":
            digit = _part(envelope, "dtmf").get("digit")
            if not isinstance(digit, str) or digit not in _DIGITS:
                raise WireError("dtmf.digit is not a key of a telephone")
            return Digit(digit)
        return Stopped() if event == "stop" else None

    def _start(self, envelope: dict[str, Any]) -> Started:
        if self._is_started:
            raise WireError("start came twice")
        start = _part(envelope, "start")
        stream = start.get("streamSid") or envelope.get("streamSid")
        if not isinstance(stream, str) or not stream:
            raise WireError("start.streamSid is missing")
        form = start.get("mediaFormat")
        if isinstance(form, dict):
            encoding, rate = form.get("encoding", "audio/x-mulaw"), str(form.get("sampleRate", "8000"))
            if encoding != "audio/x-mulaw" or rate != "8000":
                raise WireError("only audio/x-mulaw at 8000 Hz is carried")
        tracks = start.get("tracks")
        self._has_only_inbound = not isinstance(tracks, list) or "outbound" not in tracks
        self._is_started = True
        self._stream = json.dumps(stream)
        self._before_audio = f'{{"event":"media","streamSid":{self._stream},"media":{{"payload":"'.encode()
        call_id = start.get("callSid")
        parameters = start.get("customParameters")
        return Started(
            stream_id=stream,
            call_id=call_id if isinstance(call_id, str) else None,
            parameters=parameters if isinstance(parameters, dict) else {},
        )

    def encode(self, payload: bytes) -> bytes:
        return b'%b%b"}}' % (self._before_audio, b2a_base64(payload, newline=False))

    def mark(self, name: str) -> bytes:
        return f'{{"event":"mark","streamSid":{self._stream},"mark":{{"name":{json.dumps(name)}}}}}'.encode()

    def clear(self) -> bytes:
        return f'{{"event":"clear","streamSid":{self._stream}}}'.encode()


def _part(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    part = envelope.get(name)
    if not isinstance(part, dict):
        raise WireError(f"{name} is missing")
    return part


def _audio(payload: object) -> bytes:
    if not isinstance(payload, str):
        raise WireError("media.payload is missing")
    try:
        return a2b_base64(payload, strict_mode=True)
    except ValueError:
        raise WireError("media.payload is not base64") from None
