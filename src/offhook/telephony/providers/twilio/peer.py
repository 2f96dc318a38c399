"""The carrier's side of the Twilio media stream: for `offhook call --audio`, load generators and tests."""

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from typing import Any, Final

from offhook.telephony.media.simulated_phone import DropAudio, PlayAudio, PlayMark, PlayoutOrder

PROTOCOL_VERSION: Final = "1.0.0"


class TwilioPeer:
    """Implements ``FarWire``. ``send`` takes one text message and does not block."""

    def __init__(self, send: Callable[[str], None], *, stream_id: str, call_id: str) -> None:
        self._send = send
        self._stream_id = stream_id
        self._call_id = call_id
        self._sequence = 0
        self._chunk = 0

    def _send_event(self, event: str, **body: Any) -> None:
        self._sequence += 1
        envelope = {"event": event, "sequenceNumber": str(self._sequence), **body, "streamSid": self._stream_id}
        self._send(json.dumps(envelope, separators=(",", ":")))

    def send_start(self) -> None:
        """Sends ``connected`` and ``start``, with which every stream begins."""
        self._send(json.dumps({"event": "connected", "protocol": "Call", "version": PROTOCOL_VERSION}))
        start = {
            "accountSid": "AC" + "0" * 32,
            "streamSid": self._stream_id,
            "callSid": self._call_id,
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": "8000", "channels": "1"},
            "customParameters": {},
        }
        self._send_event("start", start=start)

    def send_stop(self) -> None:
        self._send_event("stop", stop={"accountSid": "AC" + "0" * 32, "callSid": self._call_id})

    def decode(self, message: str | bytes) -> PlayoutOrder | None:
        envelope = json.loads(message)
        match envelope["event"]:
            case "media":
                return PlayAudio(a2b_base64(envelope["media"]["payload"]))
            case "mark":
                return PlayMark(envelope["mark"]["name"])
            case "clear":
                return DropAudio()
        return None

    def send_audio(self, payload: bytes) -> None:
        self._chunk += 1
        at_ms = (self._chunk - 1) * 20
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str(at_ms),
            "payload": b2a_base64(payload, newline=False).decode(),
        }
        self._send_event("media", media=media)

    def send_mark(self, name: str) -> None:
        self._send_event("mark", mark={"name": name})

    def send_digit(self, digit: str) -> None:
        self._send_event("dtmf", dtmf={"track": "inbound_track", "digit": digit})
