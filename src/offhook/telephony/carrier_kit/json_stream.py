"""Shared code of media streams of JSON messages: audio is cut out of a message without parsing it."""

import json
from binascii import a2b_base64
from typing import Any, Final

from offhook.kit.audio import MULAW_8K, Codec
from offhook.telephony.ports import DigitPressed, WireError, WireEvent

# The two spacings that JSON writers use. A quote inside a JSON string is always escaped, so these match only where a
# key really stands: cutting the payload out is as safe as parsing and costs a tenth.
_MEDIA: Final = ('"event":"media"', '"event": "media"')
_PAYLOAD: Final = ('"payload":"', '"payload": "')
_DIGITS: Final = frozenset("0123456789*#ABCD")
# Of a 64-bit counter; longer ones are no numbers of frames.
MAX_NUMBER_DIGITS: Final = 19


class JsonStream:
    """The reading half of a MediaWire. A subclass reads ``start`` (and sets ``_is_lean`` when only the caller's
    audio will arrive) and its other events. The format is base64 mu-law at 8 kHz unless the subclass changes it."""

    has_binary_audio = False
    confirms_playback = True

    def __init__(self) -> None:
        self.codec: Codec = MULAW_8K
        self._is_started = False
        self._is_lean = False
        self.frame_number: int | None = None

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        if isinstance(message, bytes):
            raise WireError("binary messages are not part of this protocol")
        if self._is_lean and (_MEDIA[0] in message or _MEDIA[1] in message):
            for key in _PAYLOAD:
                at = message.find(key)
                if at > 0:
                    begin = at + len(key)
                    self.frame_number = read_frame_number(message)
                    return self._convert_audio(decode_base64(message[begin : message.find('"', begin)]))
        return self._parse_message(message)

    def _convert_audio(self, audio: bytes) -> bytes:
        """Converts a frame of the caller's audio, for streams whose frames need more than unpacking."""
        return audio

    def _parse_message(self, message: str) -> bytes | WireEvent | None:
        envelope = parse_envelope(message)
        event = envelope.get("event")
        if not isinstance(event, str):
            raise WireError("a message needs an event")
        if event == "connected":
            return None
        if event == "start":
            if self._is_started:
                raise WireError("start came twice")
            return self._parse_start(envelope)
        if not self._is_started:
            raise WireError(f"{event[:20]} before start")
        if event == "media":
            media = require_section(envelope, "media")
            if media.get("track") == "outbound":
                return None
            # Numbers that both tracks may share say nothing.
            self.frame_number = read_frame_number(message) if self._is_lean else None
            return self._convert_audio(decode_base64(media.get("payload")))
        if event == "dtmf":
            return parse_digit(require_section(envelope, "dtmf").get("digit"))
        return self._parse_event(event, envelope)

    def _parse_start(self, envelope: dict[str, Any]) -> WireEvent:
        raise WireError("a stream begins in its own way")

    def _parse_event(self, event: str, envelope: dict[str, Any]) -> WireEvent | None:
        """Parses every event except connected, start, media and dtmf."""
        return None


def read_frame_number(message: str) -> int | None:
    """Returns the number of a frame, which arrives as a number or as text; None when there is none."""
    at = message.find('"chunk":')
    if at < 0:
        return None
    begin = at + 8
    text = message[begin : message.find(",", begin)].strip(' "}')
    return int(text) if text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS else None


def parse_envelope(message: str) -> dict[str, Any]:
    try:
        envelope = json.loads(message)
    except (ValueError, RecursionError):
        raise WireError("not a JSON object") from None
    if not isinstance(envelope, dict):
        raise WireError("not a JSON object")
    return envelope


def require_section(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    found = envelope.get(name)
    if not isinstance(found, dict):
        raise WireError(f"{name} is missing")
    return found


def parse_digit(key: object) -> DigitPressed:
    if not isinstance(key, str) or key not in _DIGITS:
        raise WireError("dtmf.digit is not a key of a telephone")
    return DigitPressed(key)


def decode_base64(payload: object) -> bytes:
    """Decodes base64. Raises WireError for anything else."""
    if not isinstance(payload, str):
        raise WireError("media.payload is missing")
    try:
        return a2b_base64(payload, strict_mode=True)
    except ValueError:
        raise WireError("media.payload is not base64") from None


def require_mulaw_8k(form: object, *, encoding: str = "encoding", rate: str = "sampleRate") -> None:
    """Raises WireError when the stream declares a format other than mu-law at 8 kHz."""
    if isinstance(form, dict):
        name, samples = form.get(encoding, "audio/x-mulaw"), str(form.get(rate, "8000"))
        if str(name).partition(";")[0] != "audio/x-mulaw" or samples != "8000":
            raise WireError("only audio/x-mulaw at 8000 Hz is carried")
