"""Runs XML documents from answer URLs: fetching, verbs in order, redirects, and dialing out of a document."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.emulator import CarrierEmulator

MAX_DOCUMENTS: Final = 20
XML_TYPES: Final = ("text/xml", "application/xml", "text/html", "text/plain")


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """The source of a document: a URL, or the text itself."""

    url: str = ""
    method: str = "POST"
    text: str | None = None
    fallback_url: str = ""


class DocumentRedirect(Exception):
    """The document continues with another one. ``extra`` are parameters of the request for it."""

    def __init__(self, source: DocumentSource, extra: Mapping[str, str] | None = None) -> None:
        super().__init__(source.url)
        self.source = source
        self.extra = dict(extra or {})


Verb = Callable[[ET.Element], Awaitable[None]]


class DocumentRunner(ABC):
    """Runs the documents of one call. A verb that ends the call leaves it over; the next verb does not run then."""

    def __init__(self, owner: CarrierEmulator, call: EmulatedCall) -> None:
        self.owner = owner
        self.call = call
        self.base_url = ""
        self.verbs: dict[str, Verb] = {}

    # carrier-specific parts

    @abstractmethod
    def build_request(self, source: DocumentSource, extra: Mapping[str, str]) -> OutgoingCallback:
        """Builds the carrier's request for a document."""

    async def prepare_call(self, verbs: Sequence[ET.Element]) -> None:
        """Runs once with the first document's verbs: answers an inbound call here, unless they refuse it."""
        self.call.answer()

    async def handle_unreadable(self) -> None:
        """Handles an unreadable document as the carrier does."""
        self.call.end("failed", "carrier")

    # running documents

    async def run_document(self, source: DocumentSource, extra: Mapping[str, str] | None = None) -> None:
        """Runs until the call or the document is over."""
        parameters = dict(extra or {})
        for _ in range(MAX_DOCUMENTS):
            document = await self._fetch_document(source, parameters)
            if self.call.is_over:
                return
            if document is None:
                await self.handle_unreadable()
                return
            try:
                await self._run_verbs(document)
            except DocumentRedirect as goto:
                source, parameters = goto.source, goto.extra
                continue
            break
        if not self.call.is_over:
            # the last verb has run: the call is over
            self.call.end("normal", "carrier")

    async def _run_verbs(self, document: ET.Element) -> None:
        verbs = list(document)
        if not self.call.answered.is_set():
            await self.prepare_call(verbs)
        for element in verbs:
            if self.call.is_over:
                return
            verb = self.verbs.get(element.tag)
            if verb is None:
                self.call.errors.append(f"unknown verb {element.tag}")
                continue
            await verb(element)

    async def _fetch_document(self, source: DocumentSource, extra: Mapping[str, str]) -> ET.Element | None:
        if source.text is not None:
            return self._parse_document(source.text.encode())
        fetched = await self.owner.callback_sender.send_now(self.build_request(source, extra))
        if not _is_success(fetched) and source.fallback_url:
            self.call.errors.append(f"{source.url}: {fetched.status or fetched.error}")
            fetched = await self.owner.callback_sender.send_now(
                self.build_request(DocumentSource(source.fallback_url, source.method), extra)
            )
        if not _is_success(fetched):
            self.call.errors.append(f"{fetched.url}: {fetched.status or fetched.error or 'no answer'}")
            return None
        self.base_url = fetched.url
        if fetched.answer_type.partition(";")[0].strip() not in XML_TYPES:
            self.call.errors.append(f"a document of type {fetched.answer_type or 'nothing'}")
            return None
        return self._parse_document(fetched.answer)

    def _parse_document(self, text: bytes) -> ET.Element | None:
        try:
            # the text is ours: the emulator requested our own URL for it
            document = ET.fromstring(text)  # noqa: S314
        except ET.ParseError as error:
            self.call.errors.append(f"the document is no XML: {error}")
            return None
        if document.tag != "Response":
            self.call.errors.append(f"the document is a {document.tag}")
            return None
        return document

    def absolute_url(self, url: str) -> str:
        """Returns the absolute URL; one in a document can be relative to the document's own."""
        return urljoin(self.base_url, url.strip()) if url else ""


def _is_success(fetched: OutgoingCallback) -> bool:
    return fetched.status is not None and 200 <= fetched.status < 300


def is_yes(value: str | None, default: bool) -> bool:
    return default if value is None else value.strip().lower() == "true"


def parse_number(value: str | None, default: float) -> float:
    try:
        return float(value) if value else default
    except ValueError:
        return default
