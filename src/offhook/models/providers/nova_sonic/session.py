"""One session of Amazon Nova Sonic over an HTTP/2 stream: the caller's turns in, speech and calls out.

The vendor's conversation only grows, and its instructions and functions are fixed when the first turn begins. Whatever would
need to change them ends the use of the session (``is_open`` is False), and another one begins with our history.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from offhook.models.ports import ItemRef, LlmMessage, ModelError, SessionReports, SpeechEvent, ToolCall, ToolSpec
from offhook.models.providers.nova_sonic import wire
from offhook.models.providers.nova_sonic.aws_signing import EventSigner
from offhook.models.providers.nova_sonic.event_stream import EventMessage, MessageReader
from offhook.models.providers.nova_sonic.http2_stream import Http2Stream
from offhook.models.providers.nova_sonic.turns import NovaTurnReader
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import SessionFormats
from offhook.models.speech.speech_usage import SpeechUsage

CHUNK_S: Final = 0.1
# The vendor's detector waits 1.5 s for more speech; it hears this silence faster than it would pass.
TURN_END_S: Final = 1.8
# Source: users report that the vendor ends a session after 55 s without audio.
KEEP_ALIVE_S: Final = 20.0
USAGE_TIMEOUT_S: Final = 0.5
# A refusal comes before this; whether the answer's head comes before the first turn is not documented.
REFUSAL_S: Final = 0.5


class NovaSpeechSession:
    """Implements SpeechSession, and Http2Receiver for its stream. Opened by :meth:`wait_opened`.

    A turn of the caller is sent when it is over: audio that was sent cannot be taken back, and the vendor has a detector
    of its own, which has nothing to decide then.
    """

    def __init__(self, formats: SessionFormats, voice: str, errors: VendorErrors, reports: SessionReports) -> None:
        self._formats = formats
        self._voice = voice
        self._errors = errors
        self._on_usage = reports.on_usage
        self._names = wire.PromptNames(str(uuid4()), str(uuid4()))
        self._turns = NovaTurnReader(errors, self._retire)
        self._reader = MessageReader()
        self._stream: Http2Stream | None = None
        self._signer: EventSigner | None = None
        self._failure: ModelError | None = None
        self._answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._refusal: tuple[int, Mapping[str, str]] | None = None
        self._refusal_body = bytearray()
        self._ended = asyncio.Event()
        self._is_retired = False
        self._is_begun = False
        self._step: tuple[str, Sequence[ToolSpec]] = ("", [])
        self._audio = bytearray()
        # what the next turn of the model answers: texts by role, results of calls, or audio
        self._texts: list[tuple[str, str]] = []
        self._results: list[tuple[ToolCall, str]] = []
        self._turn_audio = b""
        self._calls_of_others: dict[str, ToolCall] = {}
        self._items: dict[str, ItemRef] = {}
        self._count = 0
        self._totals: dict[str, int] = {}
        # whether a response waits for its report, and whether one has come since it began
        self._is_unsettled = False
        self._is_reported = False
        self._keep_alive: asyncio.TimerHandle | None = None

    async def wait_opened(self, stream: Http2Stream, signer: EventSigner, *, is_check: bool, limit_s: float) -> None:
        """Begins the session. Raises ModelError when the vendor refuses it. ``is_check``: waits for its consent."""
        self._stream, self._signer = stream, signer
        self._send_event("sessionStart", wire.session_start())
        if is_check:
            # an unknown voice is refused too
            self._begin_prompt()
        try:
            async with asyncio.timeout(limit_s if is_check else REFUSAL_S):
                await self._answered
        except TimeoutError:
            if not stream.is_open:
                raise self._errors.timeout_error("session", limit_s) from None

    @property
    def is_open(self) -> bool:
        is_usable = self._failure is None and not self._is_retired
        return is_usable and self._stream is not None and self._stream.is_open

    @property
    def is_expiring(self) -> bool:
        return False

    def _retire(self) -> None:
        self._is_retired = True

    # -- out ------------------------------------------------------------------------------------------------------

    def _send_event(self, name: str, value: Mapping[str, Any]) -> None:
        self._send_messages([wire.encode_event(name, value)])

    def _send_messages(self, messages: Sequence[bytes]) -> None:
        if self._stream is not None and self._signer is not None and self._stream.is_open:
            self._stream.send(b"".join([self._signer.sign_message(message) for message in messages]))

    def accepts_step(self, instructions: str, tools: Sequence[ToolSpec]) -> bool:
        return not self._is_begun or self._step == (instructions, list(tools))

    def set_step(self, instructions: str, tools: Sequence[ToolSpec]) -> None:
        if self.accepts_step(instructions, tools):
            self._step = (instructions, list(tools))
        else:
            self._retire()

    def push_audio(self, payload: bytes) -> None:
        self._audio += payload

    def commit_audio(self) -> ItemRef:
        self._turn_audio = bytes(self._audio)
        self._audio.clear()
        return self._next_ref()

    def clear_audio(self) -> None:
        self._audio.clear()

    def add_message(self, message: LlmMessage, after: ItemRef | None = None) -> list[ItemRef]:
        if message.role == "tool":
            self._add_result(message.tool_call_id or "", message.content)
        elif message.content:
            is_note = message.role == "system"
            role = "ASSISTANT" if message.role == "assistant" else "USER"
            self._texts.append((role, f"({message.content})" if is_note else message.content))
        self._calls_of_others.update({call.id: call for call in message.tool_calls})
        return [self._next_ref()]

    def _add_result(self, call_id: str, text: str) -> None:
        call = self._turns.open_calls.get(call_id)
        if call is not None:
            self._results.append((call, text))
        else:
            self._texts.append(("USER", wire.result_note(self._calls_of_others.get(call_id), text)))

    def _next_ref(self) -> ItemRef:
        self._count += 1
        return self.item_ref(f"entry_{self._count}")

    def item_ref(self, item_id: str) -> ItemRef:
        return self._items.setdefault(item_id, ItemRef(item_id))

    def truncate_item(self, item_id: str, heard_ms: int) -> None:
        self._retire()

    def delete_item(self, item: ItemRef) -> None:
        self._retire()

    async def stream_response(self) -> AsyncIterator[SpeechEvent]:
        if self._failure is not None:
            raise self._failure
        turn = self._turns.begin_turn()
        self._settle()
        self._is_unsettled = True
        self._send_entries()
        try:
            while (event := await turn.events.get()) is not None:
                if isinstance(event, ModelError):
                    raise event
                yield event
        finally:
            if not turn.is_over:
                # its words stay in the vendor's conversation: another session goes on without them
                turn.is_canceled = True
                self._retire()

    def _send_entries(self) -> None:
        """Sends what the session does not have yet; the last of it makes the model speak."""
        texts, results, audio = self._texts, self._results, self._turn_audio
        self._texts, self._results, self._turn_audio = [], [], b""
        if results:
            self._turns.open_calls = {}
            for call, text in results:
                self._send_messages(wire.result_events(self._names, str(uuid4()), call, text))
            return
        question = ""
        if not audio:
            question = texts.pop()[1] if texts and texts[-1][0] == "USER" else wire.SPEAK_NOTE
        self._begin_prompt(texts)
        if audio:
            self._send_audio(audio + bytes(int(TURN_END_S * self._formats.heard.bytes_per_s)))
        else:
            self._send_messages(wire.text_events(self._names, str(uuid4()), "USER", question, is_turn=True))

    def _begin_prompt(self, texts: Sequence[tuple[str, str]] = ()) -> None:
        """Sends what a session begins with; texts come before audio, which stays open from then on."""
        if self._is_begun:
            return
        self._is_begun = True
        instructions, tools = self._step
        self._send_event("promptStart", wire.prompt_start(self._names, self._formats.spoken, self._voice, tools))
        history = wire.fit_history(texts)
        for role, text in [("SYSTEM", instructions or "Help the caller."), *history]:
            self._send_messages(wire.text_events(self._names, str(uuid4()), role, text, is_turn=False))
        self._send_event("contentStart", wire.audio_start(self._names, self._formats))
        self._stay_alive()

    def _stay_alive(self) -> None:
        """Sends a little silence now and then."""
        self._keep_alive = asyncio.get_running_loop().call_later(KEEP_ALIVE_S, self._send_silence)

    def _send_silence(self) -> None:
        if self.is_open:
            self._send_audio(bytes(int(CHUNK_S * self._formats.heard.bytes_per_s)))
            self._stay_alive()

    def _send_audio(self, audio: bytes) -> None:
        step = int(CHUNK_S * self._formats.heard.bytes_per_s)
        ids = {"promptName": self._names.prompt, "contentName": self._names.audio}
        for at in range(0, len(audio), step):
            content = base64.b64encode(audio[at : at + step]).decode()
            self._send_event("audioInput", {**ids, "content": content})

    async def close(self) -> None:
        """Ends the conversation and waits a moment: the last report of usage comes then."""
        if self._keep_alive is not None:
            self._keep_alive.cancel()
        if self._stream is not None and self._stream.is_open and self._failure is None:
            if self._is_begun:
                ids = {"promptName": self._names.prompt, "contentName": self._names.audio}
                self._send_event("contentEnd", ids)
                self._send_event("promptEnd", {"promptName": self._names.prompt})
            self._send_event("sessionEnd", {})
            if self._signer is not None:
                self._stream.send(self._signer.sign_message(b""), is_last=True)
            try:
                async with asyncio.timeout(USAGE_TIMEOUT_S):
                    await self._ended.wait()
            except TimeoutError:
                pass
        self._fail_session(self._errors.make_error("cut_off", "The session was closed."))

    # -- in: Http2Receiver ----------------------------------------------------------------------------------------

    def on_response(self, status: int, headers: Mapping[str, str]) -> None:
        if status != 200:
            self._refusal = (status, headers)
        elif not self._answered.done():
            self._answered.set_result(None)

    def on_data(self, data: bytes) -> None:
        if self._refusal is not None:
            self._refusal_body += data[:4096]
            return
        try:
            for message in self._reader.push_bytes(data):
                self._on_message(message)
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
            self._fail_session(self._errors.malformed_error(f"{type(error).__name__}: {error}"))

    def on_end(self, reason: str) -> None:
        self._ended.set()
        if self._refusal is not None:
            status, headers = self._refusal
            self._fail_session(wire.response_error(self._errors, status, headers, bytes(self._refusal_body)))
        else:
            self._fail_session(self._errors.make_error("cut_off", reason or "The vendor ended the stream."))

    def _on_message(self, message: EventMessage) -> None:
        if message.headers.get(":message-type") in ("exception", "error"):
            self._fail_session(wire.exception_error(self._errors, message))
            return
        name, value = wire.read_event(message)
        if name == "usageEvent":
            self._on_report(value)
        else:
            self._turns.on_event(name, value)

    # -- usage ----------------------------------------------------------------------------------------------------

    def _on_report(self, value: Mapping[str, Any]) -> None:
        """Counts what was used since the report before: totals are not wrong when a report is repeated."""
        totals = wire.read_totals(value)
        if totals is not None:
            self._is_reported = True
            self._on_usage(wire.usage_since(self._totals, totals))
            self._totals = totals

    def _settle(self) -> None:
        """Counts the response before: as reported, or as one whose usage is unknown."""
        if self._is_unsettled:
            self._on_usage(SpeechUsage() if self._is_reported else None)
        self._is_unsettled = self._is_reported = False

    def _fail_session(self, error: ModelError) -> None:
        if self._failure is not None:
            return
        self._failure = error
        self._settle()
        if not self._answered.done():
            self._answered.set_exception(error)
            # whoever waits has it; nobody may be waiting any more
            self._answered.exception()
        self._turns.fail_all(error)
        if self._keep_alive is not None:
            self._keep_alive.cancel()
        if self._stream is not None:
            self._stream.close()
