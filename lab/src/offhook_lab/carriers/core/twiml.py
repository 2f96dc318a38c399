"""TwiML, which Twilio defined and Cloudonix speaks too: the verbs that voice agents use."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, RoomSeat
from offhook_lab.carriers.core.documents import DocumentRedirect, DocumentRunner, DocumentSource, is_yes, parse_number
from offhook_lab.carriers.core.emulator import CarrierEmulator
from offhook_lab.carriers.core.legs import ring_and_bridge
from offhook_lab.carriers.core.stream import MediaStream

DIAL_TIMEOUT_S: Final = 30.0


class TwimlRunner(DocumentRunner):
    """Runs TwiML. ``default_method`` is for URLs in a document that name no method."""

    default_method = "POST"

    def __init__(self, owner: CarrierEmulator, call: EmulatedCall) -> None:
        super().__init__(owner, call)
        self.verbs = {
            "Say": self._say,
            "Play": self._play,
            "Pause": self._pause,
            "Hangup": self._hangup,
            "Reject": self._reject,
            "Redirect": self._redirect,
            "Connect": self._connect,
            "Dial": self._dial,
        }

    # carrier-specific parts

    @abstractmethod
    def new_stream(self, url: str, attributes: Mapping[str, str], parameters: Mapping[str, str]) -> MediaStream: ...

    @abstractmethod
    def dial_result_fields(self, child: EmulatedCall | None) -> Mapping[str, str]:
        """Returns the parameters of the request for a <Dial>'s ``action``; without a child it was a conference."""

    def report_stream(self, stream: MediaStream, attributes: Mapping[str, str], event: str) -> None:
        """Reports a stream's event to its ``statusCallback``."""

    def report_conference(
        self, room: ConferenceRoom, seat: RoomSeat, attributes: Mapping[str, str], event: str
    ) -> None:
        """Reports a conference's event to its ``statusCallback``."""

    def configure_child(self, child: EmulatedCall, attributes: Mapping[str, str]) -> None:
        """Stores the callbacks that a <Number> requests."""

    # verbs

    async def prepare_call(self, verbs: Sequence[Element]) -> None:
        if not (self.call.direction == "inbound" and verbs and verbs[0].tag == "Reject"):
            self.call.answer()

    async def _say(self, element: Element) -> None:
        await self.owner.say_text(self.call, "".join(element.itertext()).strip())

    async def _play(self, element: Element) -> None:
        await self.owner.play_url(self.call, self.absolute_url(element.text or ""))

    async def _pause(self, element: Element) -> None:
        await asyncio.sleep(parse_number(element.get("length"), 1.0))

    async def _hangup(self, element: Element) -> None:
        self.call.end("normal", "api")

    async def _reject(self, element: Element) -> None:
        if self.call.answered.is_set():
            self.call.errors.append("Reject after the call was answered")
            self.call.end("normal", "api")
            return
        self.call.rejected = element.get("reason", "rejected")
        self.call.end("busy" if self.call.rejected == "busy" else "rejected", "api")

    async def _redirect(self, element: Element) -> None:
        raise DocumentRedirect(
            DocumentSource(self.absolute_url(element.text or ""), element.get("method", self.default_method))
        )

    async def _connect(self, element: Element) -> None:
        found = element.find("Stream")
        if found is None:
            self.call.errors.append("Connect without a Stream")
            return
        parameters = {one.get("name", ""): one.get("value", "") for one in found.findall("Parameter")}
        url = self.absolute_url(found.get("url", ""))
        if problem := self.refuses_stream(url, parameters):
            self.call.errors.append(problem)
            return
        stream = self.new_stream(url, found.attrib, parameters)
        self.owner.attach_stream(self.call, stream)
        await stream.opened.wait()
        if stream.failure:
            self.call.errors.append(f"the stream did not open: {stream.failure}")
            self.report_stream(stream, found.attrib, "stream-error")
        else:
            self.report_stream(stream, found.attrib, "stream-started")
            try:
                await stream.over.wait()
            finally:
                self.report_stream(stream, found.attrib, "stream-stopped")
        self.call.connect_to(None)

    def refuses_stream(self, url: str, parameters: Mapping[str, str]) -> str | None:
        """Returns the carrier's reason to refuse this stream."""
        return None if url.startswith(("wss://", "ws://")) else f"not a socket's address: {url}"

    async def _dial(self, element: Element) -> None:
        conference = element.find("Conference")
        number = element.find("Number")
        child = None
        if conference is not None:
            await self._join_conference(conference)
        elif number is not None or (element.text or "").strip():
            attributes = dict(number.attrib) if number is not None else {}
            to = (number.text if number is not None else element.text) or ""
            child = await self._ring_number(element, to.strip(), attributes)
        else:
            self.call.errors.append("Dial without anybody to dial")
        if not self.call.is_over and (action := element.get("action")):
            raise DocumentRedirect(
                DocumentSource(self.absolute_url(action), element.get("method", self.default_method)),
                dict(self.dial_result_fields(child)),
            )

    async def _ring_number(self, element: Element, to: str, attributes: Mapping[str, str]) -> EmulatedCall:
        child = self.owner.new_call("outbound", element.get("callerId") or self.call.from_number, to)
        child.parent = self.call
        self.call.children.append(child)
        self.configure_child(child, attributes)
        timeout_s = parse_number(element.get("timeout"), DIAL_TIMEOUT_S)
        await ring_and_bridge(self.owner, self.call, child, timeout_s)
        return child

    async def _join_conference(self, element: Element) -> None:
        attributes = element.attrib
        room = self.owner.get_room((element.text or "").strip())
        starts = is_yes(attributes.get("startConferenceOnEnter"), default=True)
        ends = is_yes(attributes.get("endConferenceOnExit"), default=False)
        had_started = room.has_started
        seat = room.join(self.call.id, starts=starts, ends=ends)
        self.call.connect_to(seat)
        self.report_conference(room, seat, attributes, "participant-join")
        if room.has_started and not had_started:
            self.report_conference(room, seat, attributes, "conference-start")
        try:
            await seat.over.wait()
        finally:
            room.leave(seat)
            self.report_conference(room, seat, attributes, "participant-leave")
            if room.is_over:
                self.report_conference(room, seat, attributes, "conference-end")
        self.call.connect_to(None)
