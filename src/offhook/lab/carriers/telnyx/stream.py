"""Telnyx's media stream: JSON text and base64; a codec for each direction, and mp3 unless RTP is asked for."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from offhook.lab.carriers.core.callbacks import Tunnel
from offhook.lab.carriers.core.chaos import SocketFault
from offhook.lab.carriers.core.codecs import Encoding, Transcoder
from offhook.lab.carriers.core.stream import Stream

# Telnyx has G722, OPUS and AMR-WB too; these are what the lab's phones can be heard through.
CARRIED: Final = ("PCMU", "PCMA", "L16")
TOKEN_HEADER: Final = "x-telnyx-streaming-auth-token"  # noqa: S105 - a header's name
SHORTEST_S: Final = 0.02
LONGEST_S: Final = 30.0


class TelnyxStream(Stream):
    """``settings`` are the ``stream_*`` parameters; ``leg_codec`` is what the telephone network has chosen."""

    def __init__(
        self,
        stream_id: str,
        settings: Mapping[str, Any],
        start_body: Mapping[str, Any],
        leg_codec: Encoding,
        *,
        tunnels: Sequence[Tunnel] = (),
        fault: SocketFault | None = None,
    ) -> None:
        super().__init__(stream_id, str(settings["stream_url"]), tunnels=tunnels, fault=fault)
        codec = str(settings.get("stream_codec") or leg_codec)
        self._to_us = cast(Encoding, codec) if codec in CARRIED else leg_codec
        self._is_rtp = settings.get("stream_bidirectional_mode") == "rtp"
        self._token = settings.get("stream_auth_token")
        from_us = cast(Encoding, settings.get("stream_bidirectional_codec") or "PCMU")
        rate = int(settings.get("stream_bidirectional_sampling_rate") or 8000)
        # ?? byte order of L16: no page says it; RTP's network order is taken, as clients in the field do
        self._in = Transcoder(from_us, rate if from_us == "L16" else 8000, big_endian_from_us=True)
        self._bytes_per_s = rate * 2 if from_us == "L16" else 8000
        self._out = Transcoder(self._to_us, 16000 if self._to_us == "L16" else 8000, big_endian_to_us=True)
        self._start = start_body
        self._sequence = 0
        self._chunk = 0

    def handshake(self) -> Mapping[str, str]:
        return {TOKEN_HEADER: str(self._token)} if self._token else {}

    def _say(self, event: str, **body: Any) -> None:
        self._sequence += 1
        self.tell({"event": event, "sequence_number": str(self._sequence), **body, "stream_id": self.id})

    def greet(self) -> None:
        token = {TOKEN_HEADER: self._token} if self._token else {}
        self.tell({"event": "connected", "version": "1.0.0", **token})

    def begin(self) -> None:
        """The call is answered: audio flows."""
        if self.state != "open":
            return
        rate = 16000 if self._to_us == "L16" else 8000
        self._say("start", start={**self._start, "media_format": self._format(rate)})
        self.state = "started"

    def _format(self, rate: int) -> dict[str, Any]:
        return {"encoding": self._to_us, "sample_rate": rate, "channels": 1}

    def send_audio(self, mulaw: bytes) -> None:
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str((self._chunk - 1) * 20),
            "payload": b64encode(self._out.outgoing(mulaw)).decode(),
        }
        self._say("media", media=media)

    def send_mark(self, name: str) -> None:
        self._say("mark", mark={"name": name})

    def send_digit(self, digit: str) -> None:
        self._say("dtmf", dtmf={"digit": digit})

    def send_stop(self) -> None:
        self._say("stop", stop={name: self._start[name] for name in ("user_id", "call_control_id")})

    def take(self, message: str | bytes) -> None:
        found = self.read(message)
        event = found.get("event")
        if event != "media":
            self.received.append(found)
        try:
            if event == "media":
                self._take_audio(b64decode(found["media"]["payload"], validate=True))
            elif event == "mark":
                self.mark(found["mark"]["name"])
            elif event == "clear":
                self.clear(returns_marks=True)
            else:
                self._complain(f"unknown event {event!r}")
        except (KeyError, TypeError, Error):
            self._complain(f"malformed {event}")

    def _take_audio(self, payload: bytes) -> None:
        if not self._is_rtp:
            # mp3 is the default, and what is no mp3 is never heard
            self.problems.append("audio was dropped: stream_bidirectional_mode is mp3")
        elif not SHORTEST_S * 0.99 <= len(payload) / self._bytes_per_s <= LONGEST_S:
            self._complain("a chunk has 20 ms to 30 s of audio")
        else:
            self.play(self._in.incoming(payload))

    def _complain(self, detail: str) -> None:
        self.problems.append(detail)
        payload = {"code": 100003, "title": "malformed_frame", "detail": detail}
        self.tell({"event": "error", "payload": payload, "stream_id": self.id})
