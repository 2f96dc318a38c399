"""Vonage's websocket leg: binary linear PCM in frames of exactly 20 ms, JSON text for the rest."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.telephony.media.simulated_phone import FRAME
from offhook_lab.carriers.core.callbacks import ProxyTunnel
from offhook_lab.carriers.core.chaos import SocketFault
from offhook_lab.carriers.core.codecs import AudioTranscoder
from offhook_lab.carriers.core.stream import MediaStream

RATES: Final = {f"audio/l16;rate={rate}": rate for rate in (8000, 16000, 24000)}
MAX_QUEUED_FRAMES: Final = 1024


class VonageStream(MediaStream):
    """One websocket leg. ``headers`` are our own, flattened into the first message."""

    def __init__(
        self,
        stream_id: str,
        url: str,
        content_type: str,
        headers: Mapping[str, Any],
        *,
        tunnels: Sequence[ProxyTunnel] = (),
        fault: SocketFault | None = None,
    ) -> None:
        super().__init__(stream_id, url, tunnels=tunnels, fault=fault)
        self._content_type = content_type
        self._headers = headers
        self._rate = RATES[content_type]
        self._audio = AudioTranscoder("L16", self._rate)
        self._payloads: dict[str, Any] = {}

    def send_greeting(self) -> None:
        self.send_message({"event": "websocket:connected", "content-type": self._content_type, **self._headers})
        self.state = "started"

    def send_audio(self, mulaw: bytes) -> None:
        # the resampler's first pieces are shorter and are filled up with silence
        frame = self._audio.encode_outgoing(mulaw)
        size = self._rate // 25
        self.send_message(frame[:size].ljust(size, b"\0"))

    def send_mark(self, name: str) -> None:
        self.send_message({"event": "websocket:notify", "payload": self._payloads.pop(name)})

    def send_digit(self, digit: str) -> None:
        self.send_message({"event": "websocket:dtmf", "digit": digit, "duration": 260})

    def on_message(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self._take_audio(message)
            return
        found = self.parse_message(message)
        self.received.append(found)
        action = found.get("action")
        if action == "clear":
            # ?? whether a cleared notification comes back: here it does not
            self.clear_playout(returns_marks=False)
            self.send_message({"event": "websocket:cleared"})
        elif action == "notify":
            name = f"notify-{len(self.received)}"
            self._payloads[name] = found.get("payload")
            self.queue_mark(name)
        else:
            self.problems.append(f"unknown action {action!r}")

    def _take_audio(self, frame: bytes) -> None:
        if len(frame) != self._rate // 25:
            self.problems.append(f"a frame of {len(frame)} bytes was dropped")
        elif len(self.playout.buffer) >= MAX_QUEUED_FRAMES * FRAME:
            self.problems.append("a frame was dropped: more than 1024 are waiting")
        else:
            self.queue_audio(self._audio.decode_incoming(frame))
