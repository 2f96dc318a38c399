"""One session over a WebSocket: the caller's audio in, speech and calls out."""

import asyncio
import base64
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.kit.media_sockets.client import ClientSocket
from offhook.models.ports import ItemRef, LlmMessage, ModelError, SessionReports, SpeechEvent, ToolSpec
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat
from offhook.models.speech.realtime_events.audio_meter import AudioMeter
from offhook.models.speech.realtime_events.dialect import EventDialect
from offhook.models.speech.realtime_events.messages import encode_event, items_of
from offhook.models.speech.realtime_events.responses import ResponseQueue

# Audio is sent in pieces of this length, and the rest when a turn is committed: nothing needs it earlier, and a message
# costs more than its content.
CHUNK_S: Final = 0.25
USAGE_TIMEOUT_S: Final = 0.5
# A cut costs the vendor the words of the entry; less than this holds none.
MIN_CUT_MS: Final = 100
_UNNAMED: Final = "The vendor has no such entry."


class RealtimeSpeechSession:
    """Implements SpeechSession, and MessageReceiver for its socket. Opened by :meth:`wait_opened`."""

    def __init__(
        self, dialect: EventDialect, audio: WireFormat, model: str, errors: VendorErrors, reports: SessionReports
    ) -> None:
        self._dialect = dialect
        self._audio = audio
        self._model = model
        self._errors = errors
        self._meter = AudioMeter(audio.bytes_per_s) if dialect.is_metered else None
        self._responses = ResponseQueue(
            self._send_text, dialect, errors, reports.on_usage, self._delete_stray, self._meter
        )
        self._socket: ClientSocket | None = None
        self._failure: ModelError | None = None
        # its conversation may differ from what was sent: no further response
        self._is_retired = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._step: tuple[str, Sequence[ToolSpec]] | None = None
        self._step_event_id = ""
        self._count = 0
        self._unsent = bytearray()
        self._chunk_bytes = CHUNK_S * audio.bytes_per_s
        self._items: dict[str, ItemRef] = {}
        # what was heard, in milliseconds, of entries that the vendor has not completed yet
        self._cuts: dict[str, int] = {}
        self._deleted: set[str] = set()
        # audio that was committed and has no name yet
        self._commits: deque[tuple[str, ItemRef]] = deque()
        # the entries that an event of ours was about, by its id
        self._subjects: dict[str, ItemRef] = {}
        self._handlers: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "session.created": lambda message: self._on_created(message.get("session") or {}),
            "session.updated": lambda message: self._note_opened(),
            "input_audio_buffer.committed": self._on_committed,
            "response.created": lambda message: self._responses.on_created(message["response"]),
            "response.output_audio.delta": self._responses.on_audio,
            "response.output_audio_transcript.delta": self._responses.on_transcript,
            "response.output_item.done": self._responses.on_item_done,
            "response.done": lambda message: self._responses.on_done(message["response"]),
            "error": lambda message: self._on_error(message.get("error") or {}),
        }

    async def wait_opened(self, socket: ClientSocket, voice: str, limit_s: float) -> None:
        """Waits until the vendor has accepted the settings. Raises ModelError."""
        self._socket = socket
        if self._failure is None:
            self._send_event("session.update", ("session", self._dialect.opening_session(self._audio, voice)))
        else:
            socket.close()
        try:
            async with asyncio.timeout(limit_s):
                await self._opened
        except TimeoutError:
            raise self._errors.timeout_error("session", limit_s) from None

    @property
    def is_open(self) -> bool:
        is_usable = self._failure is None and not self._is_retired
        return is_usable and self._socket is not None and self._socket.is_open

    @property
    def is_expiring(self) -> bool:
        # these vendors close sessions without a warning
        return False

    # -- out ------------------------------------------------------------------------------------------------------

    def _send_text(self, message: str) -> None:
        if self._socket is not None:
            self._socket.send(message)

    def _send_event(self, kind: str, *fields: tuple[str, Any], subject: ItemRef | None = None) -> str:
        self._count += 1
        event_id = f"event_{self._count}"
        if subject is not None:
            self._subjects[event_id] = subject
        self._send_text(encode_event(kind, event_id, fields))
        return event_id

    def accepts_step(self, instructions: str, tools: Sequence[ToolSpec]) -> bool:
        return True

    def set_step(self, instructions: str, tools: Sequence[ToolSpec]) -> None:
        if self._step != (instructions, list(tools)):
            self._step = (instructions, list(tools))
            step = self._dialect.step_session(instructions, tools)
            self._step_event_id = self._send_event("session.update", ("session", step))

    def push_audio(self, payload: bytes) -> None:
        self._unsent += payload
        if len(self._unsent) >= self._chunk_bytes:
            self._send_audio()

    def _send_audio(self) -> None:
        if self._unsent:
            if self._meter is not None:
                self._meter.add_audio(len(self._unsent))
            text = base64.b64encode(self._unsent).decode()
            self._unsent.clear()
            self._send_text('{"type":"input_audio_buffer.append","audio":"' + text + '"}')

    def commit_audio(self) -> ItemRef:
        self._send_audio()
        item = ItemRef()
        event_id = self._send_event("input_audio_buffer.commit", subject=item)
        self._commits.append((event_id, item))
        return item

    def clear_audio(self) -> None:
        self._unsent.clear()
        self._send_event("input_audio_buffer.clear")

    def add_message(self, message: LlmMessage, after: ItemRef | None = None) -> list[ItemRef]:
        refs: list[ItemRef] = []
        for item in items_of(message, self._dialect.assistant_content):
            self._count += 1
            if self._meter is not None and item["type"] != "function_call_output":
                self._meter.add_message()
            ref = self.item_ref(f"offhook_{self._count}")
            fields: list[tuple[str, Any]] = [("item", {"id": ref.id, **item})]
            if after is not None and after.id:
                fields.insert(0, ("previous_item_id", after.id))
                after = ref
            self._send_event("conversation.item.create", *fields, subject=ref)
            refs.append(ref)
        return refs

    def truncate_item(self, item_id: str, heard_ms: int) -> None:
        if item_id in self._responses.complete_items or self._responses.is_idle:
            self._cut_item(item_id, heard_ms)
        else:
            # a response goes on for a moment when it is canceled: its entry would grow behind the cut
            self._cuts[item_id] = heard_ms

    def _cut_waiting_items(self) -> None:
        cuts, self._cuts = self._cuts, {}
        for item_id, heard_ms in cuts.items():
            self._cut_item(item_id, heard_ms)

    def _cut_item(self, item_id: str, heard_ms: int) -> None:
        ref = self._items.get(item_id)
        if ref is None or item_id in self._deleted:  # of the session before this one, or written as text since then
            return
        received_ms = self._responses.audio_bytes.get(item_id, 0) * 1000 // self._audio.bytes_per_s
        end_ms = min(heard_ms, received_ms)
        is_whole = item_id in self._responses.complete_items and received_ms - end_ms < MIN_CUT_MS
        if end_ms <= 0:
            self.delete_item(ref)
        elif not is_whole:
            fields = (("item_id", item_id), ("content_index", 0), ("audio_end_ms", end_ms))
            self._send_event("conversation.item.truncate", *fields, subject=ref)

    def delete_item(self, item: ItemRef) -> None:
        if item.id and item.id not in self._deleted:
            self._deleted.add(item.id)
            self._send_event("conversation.item.delete", ("item_id", item.id))

    def _delete_stray(self, item_id: str) -> None:
        self.delete_item(self.item_ref(item_id))

    def item_ref(self, item_id: str) -> ItemRef:
        return self._items.setdefault(item_id, ItemRef(item_id))

    async def stream_response(self) -> AsyncIterator[SpeechEvent]:
        limit_s = self._dialect.idle_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await self._responses.wait_idle()
        except TimeoutError:
            if not self._dialect.may_drop_responses:
                raise self._errors.timeout_error("end of the response before", limit_s) from None
            self._responses.forget_canceled()
        if self._failure is not None:
            raise self._failure
        self._cut_waiting_items()
        response = self._responses.begin_response()
        try:
            while (event := await response.events.get()) is not None:
                if isinstance(event, ModelError):
                    raise event
                yield event
        finally:
            self._responses.cancel_response(response)

    async def close(self) -> None:
        if self._socket is None:
            return
        if self._responses.active is not None:
            self._responses.cancel_response(self._responses.active)
        if self.is_open and not self._responses.is_idle:
            try:
                async with asyncio.timeout(USAGE_TIMEOUT_S):
                    await self._responses.wait_idle()
            except TimeoutError:
                pass
        self._fail_session(self._errors.make_error("cut_off", "The session was closed."))

    # -- in: MessageReceiver --------------------------------------------------------------------------------------

    def on_text(self, text: str) -> None:
        try:
            message = parse_json(text)
            kind = message["type"]
            handler = self._handlers.get(self._dialect.aliases.get(kind, kind))
            if handler is not None:
                handler(message)
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
            self._fail_session(self._errors.malformed_error(f"{type(error).__name__} in {text[:80]}"))

    def on_binary(self, payload: bytes) -> None:
        self._fail_session(self._errors.malformed_error("binary data"))

    def on_closed(self, code: int, reason: str) -> None:
        self._fail_session(self._errors.closed_error(code, reason))

    def _fail_session(self, error: ModelError) -> None:
        if self._failure is not None:
            return
        self._failure = error
        if not self._opened.done():
            self._opened.set_exception(error)
        self._responses.fail_all(error)
        if self._socket is not None:
            self._socket.close()

    def _on_created(self, session: Mapping[str, Any]) -> None:
        other = self._dialect.other_model(self._model, session)
        if other:
            self._fail_session(self._errors.make_error("not_found", f"{self._model} is unknown; {other} answered."))

    def _note_opened(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    def _on_committed(self, message: Mapping[str, Any]) -> None:
        if self._commits:
            event_id, ref = self._commits.popleft()
            self._subjects.pop(event_id, None)
            ref.id = str(message["item_id"])
            self._items[ref.id] = ref

    def _on_error(self, found: Mapping[str, Any]) -> None:
        """Sorts an error: of the session, of a response, of one entry, or of nothing that matters by now."""
        dialect, event_id = self._dialect, str(found.get("event_id") or "")
        if dialect.is_harmless(found):
            return
        error = dialect.convert_error(self._errors, found)
        is_fatal = dialect.is_fatal(found)
        if not is_fatal and not event_id and dialect.may_omit_event_ids and self._opened.done():
            self._retire(error)
        elif self._responses.refuse_active(event_id, error, is_busy=dialect.is_busy(found)):
            return
        elif not self._opened.done() or is_fatal or event_id == self._step_event_id:
            self._fail_session(error)
        elif (subject := self._subjects.pop(event_id, None)) is not None:
            self._note_lost(event_id, subject)
        elif dialect.name_error(found) == "server_error":
            self._responses.fail_active(error)

    def _retire(self, error: ModelError) -> None:
        """Ends the use of a session in which something was refused that the vendor does not name."""
        self._is_retired = True
        self._responses.fail_unbegun(self._errors.make_error("cut_off", error))

    def _note_lost(self, event_id: str, ref: ItemRef) -> None:
        """Notes that an entry is not as it was heard: it is written as text before the next response."""
        ref.is_lost = True
        self.delete_item(ref)
        commit = next((item for item in self._commits if item[0] == event_id), None)
        if commit is not None:
            # The caller's turn is missing: the response that is on its way answers something else.
            self._commits.remove(commit)
            self._responses.fail_active(self._errors.make_error("cut_off", _UNNAMED))
