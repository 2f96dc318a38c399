"""Runs our CXML as Cloudonix does: TwiML with its own requests and its own stream."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.callbacks import OutgoingCallback, form_callback, json_callback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, RoomSeat
from offhook_lab.carriers.core.documents import DocumentSource
from offhook_lab.carriers.core.stream import MediaStream
from offhook_lab.carriers.core.twilio_media import TwilioLikeStream
from offhook_lab.carriers.core.twiml import TwimlRunner

if TYPE_CHECKING:
    from offhook_lab.carriers.cloudonix.server import CloudonixEmulator


class CloudonixStream(TwilioLikeStream):
    """Twilio's message shapes; ``stop`` names the session. ?? Whether marks come back was never observed:
    ``knows_marks`` of the emulator decides it."""

    knows_marks = True

    def send_mark(self, name: str) -> None:
        if self.knows_marks:
            super().send_mark(name)

    def stop_body(self) -> Mapping[str, Any]:
        return {name: self.start_body[name] for name in ("callSid", "session")}


class CloudonixDocuments(TwimlRunner):
    """Requests are JSON when they are posted and a query otherwise; GET is the default."""

    default_method = "GET"

    def __init__(self, owner: "CloudonixEmulator", call: EmulatedCall) -> None:
        super().__init__(owner, call)
        self.cloudonix = owner

    def build_request(self, source: DocumentSource, extra: Mapping[str, str]) -> OutgoingCallback:
        body = self.cloudonix.voice_fields(self.call)
        if source.method.upper() == "POST":
            return json_callback("answer", source.url, {**body, **extra}, call_id=self.call.id)
        query = [(name, str(value)) for name, value in {**body, **extra}.items() if not isinstance(value, dict)]
        return form_callback("answer", source.url, query, method="GET", call_id=self.call.id)

    def new_stream(self, url: str, attributes: Mapping[str, str], parameters: Mapping[str, str]) -> MediaStream:
        start = {
            "accountSid": self.cloudonix.domain,
            "callSid": self.call.extra["call_sid"],
            "session": self.call.id,
            "tracks": ["inbound"],
            "from": self.call.from_number,
            "to": self.call.to_number,
            "context": self.cloudonix.call_direction(self.call),
            "customParameters": dict(parameters),
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        }
        stream = CloudonixStream(
            self.owner.new_id("stream"),
            url,
            start,
            tunnels=self.owner.callback_sender.tunnels,
            fault=self.owner.chaos.for_socket(),
        )
        stream.knows_marks = self.cloudonix.knows_marks
        return stream

    def _send_callback(self, kind: str, attributes: Mapping[str, str], body: Mapping[str, Any]) -> None:
        said = {
            "Session": self.call.id,
            "Domain": self.cloudonix.domain,
            "CallSid": self.call.extra["call_sid"],
            **body,
        }
        url = self.absolute_url(attributes.get("statusCallback", ""))
        self.owner.callback_sender.enqueue(json_callback(kind, url, said, call_id=self.call.id))

    def report_stream(self, stream: MediaStream, attributes: Mapping[str, str], event: str) -> None:
        self._send_callback(f"stream:{event}", attributes, {"StreamSid": stream.id, "StreamEvent": event})

    def configure_child(self, child: EmulatedCall, attributes: Mapping[str, str]) -> None:
        child.extra["callback"] = self.absolute_url(attributes.get("statusCallback", ""))

    def dial_result_fields(self, child: EmulatedCall | None) -> Mapping[str, str]:
        if child is None:
            return {"DialCallStatus": "answered"}
        status = "completed" if child.answered.is_set() else self.cloudonix.status_of(child)
        return {
            "DialCallStatus": status,
            "DialCallSid": child.extra["call_sid"],
            "DialCallDuration": str(child.duration_s),
        }

    def report_conference(
        self, room: ConferenceRoom, seat: RoomSeat, attributes: Mapping[str, str], event: str
    ) -> None:
        wanted = attributes.get("statusCallbackEvent", "").split()
        if event in wanted or event.partition("-")[2] in wanted:
            body = {"StatusCallbackEvent": event, "ConferenceSid": room.sid, "FriendlyName": room.name}
            self._send_callback(f"conference:{event}", attributes, body)
