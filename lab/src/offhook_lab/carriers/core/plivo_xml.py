"""The call-control XML that Plivo defined and Vobiz speaks too, as far as voice agents use it."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element

from offhook_lab.carriers.core.callbacks import OutgoingCallback, form_callback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, RoomSeat
from offhook_lab.carriers.core.documents import DocumentRedirect, DocumentRunner, DocumentSource, is_yes, parse_number
from offhook_lab.carriers.core.legs import ring_and_bridge
from offhook_lab.carriers.core.number_formats import with_plus
from offhook_lab.carriers.core.plivo_media import PlivoLikeStream, content_type_of

if TYPE_CHECKING:
    from offhook_lab.carriers.core.plivo_like import PlivoLikeEmulator

DIAL_TIMEOUT_S: Final = 60.0
EXTRA_HEADERS_BYTES: Final = 512


class PlivoDocuments(DocumentRunner):
    """Runs the documents. ``request`` sends the call's fields and ``Event=StartApp``."""

    def __init__(self, owner: "PlivoLikeEmulator", call: EmulatedCall) -> None:
        super().__init__(owner, call)
        self.carrier = owner
        self.verbs = {
            "Speak": self._speak,
            "Play": self._play,
            "Wait": self._wait,
            "Hangup": self._hangup,
            "Redirect": self._redirect,
            "Stream": self._stream,
            "Dial": self._dial,
            "Conference": self._conference,
        }

    @abstractmethod
    def refuses_stream(self, attributes: Mapping[str, str]) -> str | None:
        """Returns the reason to refuse a <Stream>."""

    @abstractmethod
    def new_stream(self, url: str, attributes: Mapping[str, str]) -> PlivoLikeStream: ...

    def build_request(self, source: DocumentSource, extra: Mapping[str, str]) -> OutgoingCallback:
        event = {"Event": "StartApp"} if "Event" not in extra else {}
        form = [*self.carrier.call_fields(self.call), *event.items(), *extra.items()]
        return form_callback("answer", source.url, form, method=source.method, call_id=self.call.id)

    async def prepare_call(self, verbs: Sequence[Element]) -> None:
        is_refusal = bool(verbs) and verbs[0].tag == "Hangup" and verbs[0].get("reason") is not None
        if self.call.direction == "outbound" or not is_refusal:
            self.call.answer()

    async def _speak(self, element: Element) -> None:
        await self.owner.say_text(self.call, "".join(element.itertext()).strip())

    async def _play(self, element: Element) -> None:
        await self.owner.play_url(self.call, self.absolute_url(element.text or ""))

    async def _wait(self, element: Element) -> None:
        await asyncio.sleep(parse_number(element.get("length"), 1.0))

    async def _hangup(self, element: Element) -> None:
        if not self.call.answered.is_set():
            self.call.rejected = element.get("reason")
            self.call.end("busy" if self.call.rejected == "busy" else "rejected", "api")
        else:
            self.call.end("normal", "api")

    async def _redirect(self, element: Element) -> None:
        raise DocumentRedirect(
            DocumentSource(self.absolute_url(element.text or ""), element.get("method", "POST")), {"Event": "Redirect"}
        )

    async def _stream(self, element: Element) -> None:
        url, attributes = (element.text or "").strip(), element.attrib
        problem = None if url.startswith(("ws://", "wss://")) else f"not a socket's address: {url!r}"
        headers = attributes.get("extraHeaders", "")
        if len(headers.encode()) > EXTRA_HEADERS_BYTES:
            problem = "extraHeaders are longer than 512 bytes"
        problem = problem or self.refuses_stream(attributes)
        if problem:
            self.call.errors.append(problem)
            self.call.end("failed", "carrier")
            return
        stream = self.new_stream(url, attributes)
        self.owner.attach_stream(self.call, stream)
        await stream.opened.wait()
        if stream.failure:
            self.call.errors.append(f"the stream did not open: {stream.failure}")
            self._report_stream(stream, attributes, "DroppedStream")
            self.call.connect_to(None)
            return
        self._report_stream(stream, attributes, "StartStream")
        if is_yes(attributes.get("keepCallAlive"), default=False):
            try:
                await stream.over.wait()
            finally:
                if self.carrier.tells_every_stop or stream.was_stopped:
                    self._report_stream(stream, attributes, "StopStream")
            self.call.connect_to(None)
        # without keepCallAlive the document continues at once, and its end is the call's

    def _report_stream(self, stream: PlivoLikeStream, attributes: Mapping[str, str], event: str) -> None:
        form = [
            ("Event", event),
            ("StreamID", stream.id),
            ("CallUUID", self.call.id),
            ("ServiceURL", stream.url),
            ("Timestamp", self.owner.now().isoformat()),
        ]
        url = self.absolute_url(attributes.get("statusCallbackUrl", ""))
        method = attributes.get("statusCallbackMethod", "POST")
        self.owner.callback_sender.enqueue(
            form_callback(f"stream:{event}", url, form, method=method, call_id=self.call.id)
        )

    async def _dial(self, element: Element) -> None:
        number = element.find("Number")
        to = (number.text if number is not None else "") or ""
        if not to.strip():
            self.call.errors.append("Dial without a Number")
            return
        child = self.owner.new_call(
            "outbound", with_plus(element.get("callerId") or self.call.from_number), with_plus(to.strip())
        )
        child.parent = self.call
        self.call.children.append(child)
        await ring_and_bridge(self.owner, self.call, child, parse_number(element.get("timeout"), DIAL_TIMEOUT_S))
        if action := element.get("action"):
            cause = self.carrier.hangup_of(child)
            form = [
                *self.carrier.call_fields(self.call),
                ("DialStatus", "completed" if child.answered.is_set() else self.carrier.status_of(child)),
                ("DialRingStatus", str(child.answered.is_set() or child.cause != "unreachable").lower()),
                ("DialHangupCause", cause),
                ("DialALegUUID", self.call.id),
                ("DialBLegUUID", child.id),
            ]
            method = element.get("method", "POST")
            if self.call.is_over or not is_yes(element.get("redirect"), default=True):
                self.owner.callback_sender.enqueue(
                    form_callback("dial", self.absolute_url(action), form, method=method, call_id=self.call.id)
                )
            else:
                raise DocumentRedirect(DocumentSource(self.absolute_url(action), method), dict(form))

    async def _conference(self, element: Element) -> None:
        room = self.owner.get_room((element.text or "").strip())
        starts = is_yes(element.get("startConferenceOnEnter"), default=True)
        seat = room.join(self.call.id, starts=starts, ends=is_yes(element.get("endConferenceOnExit"), default=False))
        self.call.connect_to(seat)
        self._report_conference(room, seat, element.attrib, "ConferenceEnter", "enter")
        try:
            await seat.over.wait()
        finally:
            room.leave(seat)
            self._report_conference(room, seat, element.attrib, "ConferenceExit", "exit")
        self.call.connect_to(None)
        if action := element.get("action"):
            raise DocumentRedirect(
                DocumentSource(self.absolute_url(action), element.get("method", "POST")), {"ConferenceName": room.name}
            )

    def _report_conference(
        self, room: ConferenceRoom, seat: RoomSeat, attributes: Mapping[str, str], event: str, action: str
    ) -> None:
        form = [
            *self.carrier.call_fields(self.call),
            ("Event", event),
            ("ConferenceAction", action),
            ("ConferenceName", room.name),
            ("ConferenceUUID", room.sid),
            ("ConferenceMemberID", str(room.numbers[seat.label])),
        ]
        url = self.absolute_url(attributes.get("callbackUrl", ""))
        method = attributes.get("callbackMethod", "POST")
        self.owner.callback_sender.enqueue(
            form_callback(f"conference:{action}", url, form, method=method, call_id=self.call.id)
        )


def requested_audio(attributes: Mapping[str, str]) -> tuple[str, int]:
    """Returns the encoding and rate that a <Stream> requests."""
    return content_type_of(attributes.get("contentType", ""))
