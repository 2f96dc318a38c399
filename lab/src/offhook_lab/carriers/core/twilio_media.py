"""The media stream that Twilio defined and Cloudonix speaks too: JSON text, base64 mu-law, numbers as strings."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping, Sequence
from typing import Any

from offhook_lab.carriers.core.callbacks import ProxyTunnel
from offhook_lab.carriers.core.chaos import SocketFault
from offhook_lab.carriers.core.stream import MediaStream


class TwilioLikeStream(MediaStream):
    """``start_body`` is the content of ``start`` without the stream's id."""

    def __init__(
        self,
        stream_id: str,
        url: str,
        start_body: Mapping[str, Any],
        *,
        tunnels: Sequence[ProxyTunnel] = (),
        fault: SocketFault | None = None,
    ) -> None:
        super().__init__(stream_id, url, tunnels=tunnels, fault=fault)
        self.start_body = start_body
        self._sequence = 0
        self._chunk = 0

    def _send_event(self, event: str, **body: Any) -> None:
        self._sequence += 1
        self.send_message({"event": event, "sequenceNumber": str(self._sequence), **body, "streamSid": self.id})

    def send_greeting(self) -> None:
        self.send_message({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        self._send_event("start", start={"streamSid": self.id, **self.start_body})
        self.state = "started"

    def send_audio(self, mulaw: bytes) -> None:
        self._chunk += 1
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str((self._chunk - 1) * 20),
            "payload": b64encode(mulaw).decode(),
        }
        self._send_event("media", media=media)

    def send_mark(self, name: str) -> None:
        self._send_event("mark", mark={"name": name})

    def send_digit(self, digit: str) -> None:
        self._send_event("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    def stop_body(self) -> Mapping[str, Any]:
        return {name: self.start_body[name] for name in ("accountSid", "callSid")}

    def send_stop(self) -> None:
        self._send_event("stop", stop=self.stop_body())

    def on_message(self, message: str | bytes) -> None:
        found = self.parse_message(message)
        event = found.get("event")
        if event != "media":
            self.received.append(found)
        if found and found.get("streamSid") != self.id:
            self.problems.append(f"{event}: streamSid is {found.get('streamSid')!r}")
            return
        try:
            if event == "media":
                self.queue_audio(b64decode(found["media"]["payload"], validate=True))
            elif event == "mark":
                self.queue_mark(found["mark"]["name"])
            elif event == "clear":
                self.clear_playout(returns_marks=True)
            else:
                self.problems.append(f"unknown event {event!r}")
        except (KeyError, TypeError, Error):
            self.problems.append(f"malformed {event}")
