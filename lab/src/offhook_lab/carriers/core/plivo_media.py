"""The audio stream that Plivo defined and Vobiz speaks too: JSON text, base64 audio, checkpoints instead of marks."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from offhook_lab.carriers.core.callbacks import ProxyTunnel
from offhook_lab.carriers.core.chaos import SocketFault
from offhook_lab.carriers.core.codecs import AudioTranscoder
from offhook_lab.carriers.core.stream import MediaStream

MULAW: Final = "audio/x-mulaw"
L16: Final = "audio/x-l16"


def content_type_of(text: str) -> tuple[str, int]:
    """Returns encoding and rate of ``audio/x-mulaw;rate=8000``. ?? The default is unclear: two pages disagree. The
    XML documentation's linear PCM is used, so that a client that forgets it is heard as noise."""
    encoding, _, rate = text.partition(";rate=")
    return (encoding.strip() or L16, int(rate) if rate.strip().isdigit() else 8000)


class PlivoLikeStream(MediaStream):
    """``needs_stream_id``: our messages have to name the stream. ``was_stopped``: we ended it by message."""

    needs_stream_id: ClassVar[bool] = False
    plays_names_stream: ClassVar[bool] = True
    is_big_endian_to_us: ClassVar[bool] = False

    def __init__(
        self,
        stream_id: str,
        url: str,
        audio: tuple[str, int],
        start_body: Mapping[str, Any],
        *,
        extra_headers: str = "",
        tunnels: Sequence[ProxyTunnel] = (),
        fault: SocketFault | None = None,
    ) -> None:
        super().__init__(stream_id, url, tunnels=tunnels, fault=fault)
        self.asked = audio
        self.both_ways = AudioTranscoder(
            "L16" if audio[0] == L16 else "PCMU", audio[1], big_endian_to_us=self.is_big_endian_to_us
        )
        self._start = start_body
        self._extra = extra_headers
        self._sequence = -1
        self._chunk = 0
        self.was_stopped = False

    def _send_event(self, event: str, **body: Any) -> None:
        self._sequence += 1
        self.send_message({"event": event, "sequenceNumber": self._sequence, **body})

    def send_greeting(self) -> None:
        """Sends the start, which comes first: there is no ``connected``."""
        form = {"encoding": self.asked[0], "sampleRate": self.asked[1]}
        self._send_event(
            "start", start={**self._start, "streamId": self.id, "mediaFormat": form}, **self._extra_fields()
        )
        self.state = "started"

    def _extra_fields(self) -> dict[str, str]:
        return {"extra_headers": self._extra} if self._extra else {}

    def send_audio(self, mulaw: bytes) -> None:
        self._chunk += 1
        media = {
            "track": "inbound",
            "timestamp": str((self._chunk - 1) * 20),
            "chunk": self._chunk,
            "payload": b64encode(self.both_ways.encode_outgoing(mulaw)).decode(),
        }
        self._send_event("media", streamId=self.id, media=media, **self._extra_fields())

    def send_mark(self, name: str) -> None:
        self._send_event("playedStream", name=name, **({"streamId": self.id} if self.plays_names_stream else {}))

    def send_digit(self, digit: str) -> None:
        said = {"track": "inbound", "digit": digit, "timestamp": str(self._chunk * 20)}
        self._send_event("dtmf", streamId=self.id, dtmf=said)

    def on_message(self, message: str | bytes) -> None:
        found = self.parse_message(message)
        event = found.get("event")
        if event != "playAudio":
            self.received.append(found)
        # clearAudio and checkpoint always name it
        names_it = self.needs_stream_id or event in ("checkpoint", "clearAudio")
        if names_it and found and found.get("streamId") != self.id:
            self.problems.append(f"{event}: streamId is {found.get('streamId')!r}")
            return
        try:
            self._obey_event(event, found)
        except (KeyError, TypeError, ValueError, Error):
            self.problems.append(f"malformed {event}")

    def _obey_event(self, event: Any, found: Mapping[str, Any]) -> None:
        if event == "playAudio":
            media = found["media"]
            kind = (str(media["contentType"]), int(media["sampleRate"]))
            audio = self.audio_from_us(kind)
            if audio is None:
                self.problems.append(f"audio of {kind[0]} at {kind[1]}")
                return
            self.queue_audio(audio.decode_incoming(b64decode(media["payload"], validate=True)))
        elif event == "checkpoint":
            self.queue_mark(str(found["name"]))
        elif event == "clearAudio":
            # a cleared checkpoint never reports that it was played
            self.clear_playout(returns_marks=False)
            self._send_event("clearedAudio", streamId=self.id)
        elif not self.obey_other(event):
            self.problems.append(f"unknown event {event!r}")

    def audio_from_us(self, kind: tuple[str, int]) -> AudioTranscoder | None:
        """Returns the decoder for audio from us; None for a format that cannot be played."""
        return self.both_ways if kind == self.asked else None

    def obey_other(self, event: Any) -> bool:
        """Handles messages that only one of the carriers has. Returns False for an unknown one."""
        return False
