"""Telnyx's media stream: JSON text and base64, a codec for each direction, and mp3 unless RTP is requested."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from offhook_lab.carriers.core.callbacks import ProxyTunnel
from offhook_lab.carriers.core.chaos import SocketFault
from offhook_lab.carriers.core.codecs import AudioTranscoder, Encoding
from offhook_lab.carriers.core.stream import MediaStream

# Telnyx also has G722, OPUS and AMR-WB; these are the codecs that the lab's phones support.
CARRIED: Final = ("PCMU", "PCMA", "L16")
TOKEN_HEADER: Final = "x-telnyx-streaming-auth-token"  # noqa: S105 - a header's name
MIN_CHUNK_S: Final = 0.02
MAX_CHUNK_S: Final = 30.0


class TelnyxStream(MediaStream):
    """One media stream. ``settings`` are the ``stream_*`` parameters; ``leg_codec`` is the telephone network's
    choice."""

    def __init__(
        self,
        stream_id: str,
        settings: Mapping[str, Any],
        start_body: Mapping[str, Any],
        leg_codec: Encoding,
        *,
        tunnels: Sequence[ProxyTunnel] = (),
        fault: SocketFault | None = None,
    ) -> None:
        super().__init__(stream_id, str(settings["stream_url"]), tunnels=tunnels, fault=fault)
        codec = str(settings.get("stream_codec") or leg_codec)
        self._to_us = cast(Encoding, codec) if codec in CARRIED else leg_codec
        self._is_rtp = settings.get("stream_bidirectional_mode") == "rtp"
        self._token = settings.get("stream_auth_token")
        from_us = cast(Encoding, settings.get("stream_bidirectional_codec") or "PCMU")
        rate = int(settings.get("stream_bidirectional_sampling_rate") or 8000)
        # ?? byte order of L16 is undocumented; RTP's network order is used, as clients in the field do
        self._in = AudioTranscoder(from_us, rate if from_us == "L16" else 8000, big_endian_from_us=True)
        self._bytes_per_s = rate * 2 if from_us == "L16" else 8000
        self._out = AudioTranscoder(self._to_us, 16000 if self._to_us == "L16" else 8000, big_endian_to_us=True)
        self._start = start_body
        self._sequence = 0
        self._chunk = 0

    def handshake_headers(self) -> Mapping[str, str]:
        return {TOKEN_HEADER: str(self._token)} if self._token else {}

    def _send_event(self, event: str, **body: Any) -> None:
        self._sequence += 1
        self.send_message({"event": event, "sequence_number": str(self._sequence), **body, "stream_id": self.id})

    def send_greeting(self) -> None:
        token = {TOKEN_HEADER: self._token} if self._token else {}
        self.send_message({"event": "connected", "version": "1.0.0", **token})

    def begin_audio(self) -> None:
        """Starts the audio when the call is answered."""
        if self.state != "open":
            return
        rate = 16000 if self._to_us == "L16" else 8000
        self._send_event("start", start={**self._start, "media_format": self._format(rate)})
        self.state = "started"

    def _format(self, rate: int) -> dict[str, Any]:
        return {"encoding": self._to_us, "sample_rate": rate, "channels": 1}

    def send_audio(self, mulaw: bytes) -> None:
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str((self._chunk - 1) * 20),
            "payload": b64encode(self._out.encode_outgoing(mulaw)).decode(),
        }
        self._send_event("media", media=media)

    def send_mark(self, name: str) -> None:
        self._send_event("mark", mark={"name": name})

    def send_digit(self, digit: str) -> None:
        self._send_event("dtmf", dtmf={"digit": digit})

    def send_stop(self) -> None:
        self._send_event("stop", stop={name: self._start[name] for name in ("user_id", "call_control_id")})

    def on_message(self, message: str | bytes) -> None:
        found = self.parse_message(message)
        event = found.get("event")
        if event != "media":
            self.received.append(found)
        try:
            if event == "media":
                self._take_audio(b64decode(found["media"]["payload"], validate=True))
            elif event == "mark":
                self.queue_mark(found["mark"]["name"])
            elif event == "clear":
                self.clear_playout(returns_marks=True)
            else:
                self._report_problem(f"unknown event {event!r}")
        except (KeyError, TypeError, Error):
            self._report_problem(f"malformed {event}")

    def _take_audio(self, payload: bytes) -> None:
        if not self._is_rtp:
            # mp3 is the default mode, and other audio is never heard in it
            self.problems.append("audio was dropped: stream_bidirectional_mode is mp3")
        elif not MIN_CHUNK_S * 0.99 <= len(payload) / self._bytes_per_s <= MAX_CHUNK_S:
            self._report_problem("a chunk has 20 ms to 30 s of audio")
        else:
            self.queue_audio(self._in.decode_incoming(payload))

    def _report_problem(self, detail: str) -> None:
        self.problems.append(detail)
        payload = {"code": 100003, "title": "malformed_frame", "detail": detail}
        self.send_message({"event": "error", "payload": payload, "stream_id": self.id})
