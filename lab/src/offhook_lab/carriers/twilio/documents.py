"""Runs our TwiML as Twilio does: its requests for documents, its streams, and their status callbacks."""

from collections.abc import Mapping
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final

from offhook_lab.carriers.core.callbacks import OutgoingCallback, form_callback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, RoomSeat
from offhook_lab.carriers.core.documents import DocumentSource, is_yes
from offhook_lab.carriers.core.stream import MediaStream
from offhook_lab.carriers.core.twilio_media import TwilioLikeStream
from offhook_lab.carriers.core.twiml import TwimlRunner
from offhook_lab.carriers.twilio.signature import compute_signature
from offhook_lab.carriers.twilio.states import status_of

if TYPE_CHECKING:
    from offhook_lab.carriers.twilio.server import TwilioEmulator

# Twilio documents 500 characters for a parameter's name and value together.
PARAMETER_CHARS: Final = 500


class TwilioStream(TwilioLikeStream):
    """One media stream. Twilio signs the handshake as it signs a GET."""

    auth_token = ""

    def handshake_headers(self) -> Mapping[str, str]:
        return {"X-Twilio-Signature": compute_signature(self.auth_token, self.url), "User-Agent": "Twilio.TmeWs/1.0"}


class TwilioDocuments(TwimlRunner):
    """Runs Twilio's documents. A request's ``extra`` is added to the call's own parameters."""

    def __init__(self, owner: "TwilioEmulator", call: EmulatedCall) -> None:
        super().__init__(owner, call)
        self.twilio = owner

    def build_request(self, source: DocumentSource, extra: Mapping[str, str]) -> OutgoingCallback:
        form = [*self.twilio.call_fields(self.call), *extra.items()]
        return form_callback("answer", source.url, form, method=source.method, call_id=self.call.id)

    async def handle_unreadable(self) -> None:
        """Plays Twilio's error to the caller and hangs up."""
        self.call.answer()
        await self.owner.say_text(self.call, "We are sorry, an application error has occurred. Goodbye.")
        self.call.end("normal", "carrier")

    def refuses_stream(self, url: str, parameters: Mapping[str, str]) -> str | None:
        if "?" in url:
            return "31920: a Stream's address has no query"
        if any(len(name) + len(value) > PARAMETER_CHARS for name, value in parameters.items()):
            return "a Parameter is too long"
        return super().refuses_stream(url, parameters)

    def new_stream(self, url: str, attributes: Mapping[str, str], parameters: Mapping[str, str]) -> MediaStream:
        start = {
            "accountSid": self.twilio.account_of_call(self.call),
            "callSid": self.call.id,
            "tracks": ["inbound"],
            "customParameters": dict(parameters),
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        }
        stream = TwilioStream(
            self.owner.new_id("stream"),
            url,
            start,
            tunnels=self.owner.callback_sender.tunnels,
            fault=self.owner.chaos.for_socket(),
        )
        stream.auth_token = self.twilio.token_of(self.twilio.account_of_call(self.call)) or ""
        return stream

    def report_stream(self, stream: MediaStream, attributes: Mapping[str, str], event: str) -> None:
        form = [
            ("AccountSid", self.twilio.account_of_call(self.call)),
            ("CallSid", self.call.id),
            ("StreamSid", stream.id),
            ("StreamName", attributes.get("name", stream.id)),
            ("StreamEvent", event),
            ("Timestamp", self.owner.now().isoformat()),
            *([("StreamError", stream.failure)] if stream.failure else []),
        ]
        url = self.absolute_url(attributes.get("statusCallback", ""))
        method = attributes.get("statusCallbackMethod", "POST")
        self.owner.callback_sender.enqueue(
            form_callback(f"stream:{event}", url, form, method=method, call_id=self.call.id)
        )

    def configure_child(self, child: EmulatedCall, attributes: Mapping[str, str]) -> None:
        child.extra["account_sid"] = self.twilio.account_of_call(self.call)
        child.extra["direction"] = "outbound-dial"
        child.extra["events"] = set(attributes.get("statusCallbackEvent", "completed").split())
        child.extra["status_callback"] = self.absolute_url(attributes.get("statusCallback", ""))
        child.extra["status_method"] = attributes.get("statusCallbackMethod", "POST")

    def dial_result_fields(self, child: EmulatedCall | None) -> Mapping[str, str]:
        if child is None:
            return {"DialCallStatus": "answered"}
        status = "completed" if child.answered.is_set() else status_of(child)
        return {"DialCallStatus": status, "DialCallSid": child.id, "DialCallDuration": str(child.duration_s)}

    def report_conference(
        self, room: ConferenceRoom, seat: RoomSeat, attributes: Mapping[str, str], event: str
    ) -> None:
        wanted = {"start": "conference-start", "end": "conference-end"}
        wanted |= {"join": "participant-join", "leave": "participant-leave"}
        # the first participant to set it decides for the whole conference
        told = self.twilio.conference_callbacks.setdefault(room.sid, dict(attributes))
        if event not in {wanted.get(name) for name in told.get("statusCallbackEvent", "").split()}:
            return
        form = [
            ("ConferenceSid", room.sid),
            ("FriendlyName", room.name),
            ("AccountSid", self.twilio.account_of_call(self.call)),
            ("StatusCallbackEvent", event),
            ("Timestamp", format_datetime(self.owner.now())),
            ("SequenceNumber", str(self.twilio.next_sequence(room.sid))),
        ]
        if event.startswith("participant"):
            form += [
                ("CallSid", self.call.id),
                ("Muted", "false"),
                ("Hold", "false"),
                ("StartConferenceOnEnter", str(seat.starts).lower()),
                ("EndConferenceOnExit", str(is_yes(attributes.get("endConferenceOnExit"), default=False)).lower()),
            ]
        url = self.absolute_url(told.get("statusCallback", ""))
        method = told.get("statusCallbackMethod", "POST")
        self.owner.callback_sender.enqueue(
            form_callback(f"conference:{event}", url, form, method=method, call_id=self.call.id)
        )
