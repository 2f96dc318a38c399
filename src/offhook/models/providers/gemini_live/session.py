"""One session of the Gemini Live API over a WebSocket: the caller's turns in, speech and calls out.

The vendor's conversation only grows: nothing can be cut, deleted or inserted. Whatever would need that ends the use of the
session (``is_open`` is False), and another one begins with our history.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.kit.media_sockets.client import ClientSocket
from offhook.models.ports import ItemRef, LlmMessage, ModelError, SessionReports, SpeechEvent, ToolCall, ToolSpec
from offhook.models.providers.gemini_live import wire
from offhook.models.providers.gemini_live.turns import Turn, TurnReader
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import SessionFormats

CHUNK_S: Final = 0.1
USAGE_TIMEOUT_S: Final = 0.5


class GeminiSpeechSession:
    """Implements SpeechSession, and MessageReceiver for its socket. Opened by :meth:`wait_opened`.

    A turn of the caller is sent when it is over: audio that was sent cannot be taken back, and our detector may still
    decide that it was none.
    """

    def __init__(self, formats: SessionFormats, errors: VendorErrors, reports: SessionReports) -> None:
        self._heard = formats.heard
        self._errors = errors
        self._turns = TurnReader(errors, reports.on_usage, self._retire)
        self._socket: ClientSocket | None = None
        self._failure: ModelError | None = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_retired = False
        self._is_expiring = False
        self._step: tuple[str, Sequence[ToolSpec]] | None = None
        self._audio = bytearray()
        # what the next turn of the model answers: texts by role, then results of calls, or audio
        self._texts: list[tuple[str, str]] = []
        self._results: list[tuple[ToolCall, str]] = []
        self._turn_audio = b""
        self._calls_of_others: dict[str, ToolCall] = {}
        self._items: dict[str, ItemRef] = {}
        self._count = 0

    async def wait_opened(self, socket: ClientSocket, model: str, voice: str, limit_s: float) -> None:
        """Waits until the vendor has accepted the settings. Raises ModelError."""
        self._socket = socket
        socket.send(wire.setup_message(model, voice))
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
        return self._is_expiring

    def _retire(self) -> None:
        self._is_retired = True

    # -- out ------------------------------------------------------------------------------------------------------

    def _send_text(self, message: str) -> None:
        if self._socket is not None:
            self._socket.send(message)

    def accepts_step(self, instructions: str, tools: Sequence[ToolSpec]) -> bool:
        return True

    def set_step(self, instructions: str, tools: Sequence[ToolSpec]) -> None:
        if self._step != (instructions, list(tools)):
            self._step = (instructions, list(tools))
            self._send_text(wire.step_message(instructions, tools))

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
            role = "model" if message.role == "assistant" else "user"
            self._texts.append((role, f"({message.content})" if is_note else message.content))
        self._calls_of_others.update({call.id: call for call in message.tool_calls})
        return [self._next_ref()]

    def _add_result(self, call_id: str, text: str) -> None:
        call = self._turns.open_calls.get(call_id)
        if call is not None:
            self._results.append((call, text))
        else:
            self._texts.append(("user", wire.result_note(self._calls_of_others.get(call_id), text)))

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
        turn = self._turns.begin_turn(goes_on=bool(self._results))
        self._send_entries()
        try:
            while (event := await turn.events.get()) is not None:
                if isinstance(event, ModelError):
                    raise event
                yield event
        finally:
            self._cancel_turn(turn)

    def _send_entries(self) -> None:
        """Sends what the session does not have yet; the last of it makes the model speak."""
        texts, results, audio = self._texts, self._results, self._turn_audio
        self._texts, self._results, self._turn_audio = [], [], b""
        if results:
            self._turns.open_calls = {}
            self._send_text(wire.results_message(results))
        elif audio:
            if texts:
                self._send_text(wire.content_message(texts, is_complete=False))
            self._send_turn(audio)
        else:
            if not texts or texts[-1][0] != "user":
                texts.append(("user", wire.SPEAK_NOTE))
            self._send_text(wire.content_message(texts, is_complete=True))

    def _send_turn(self, audio: bytes) -> None:
        step = int(CHUNK_S * self._heard.bytes_per_s)
        self._send_text(wire.activity_message("activityStart"))
        for at in range(0, len(audio), step):
            self._send_text(wire.audio_message(audio[at : at + step], self._heard))
        self._send_text(wire.activity_message("activityEnd"))

    def _cancel_turn(self, turn: Turn) -> None:
        """Stops a turn that is not over. Its words stay in the vendor's conversation, so that the session has no use."""
        if turn.is_over or turn.is_canceled:
            return
        turn.is_canceled = True
        self._retire()
        self._send_text(wire.activity_message("activityStart"))

    async def close(self) -> None:
        if self._socket is None:
            return
        if self._turns.active is not None:
            self._cancel_turn(self._turns.active)
        if self._failure is None and self._socket.is_open:
            try:
                async with asyncio.timeout(USAGE_TIMEOUT_S):
                    await self._turns.wait_reported()
            except TimeoutError:
                pass
        self._fail_session(self._errors.make_error("cut_off", "The session was closed."))

    # -- in: MessageReceiver --------------------------------------------------------------------------------------

    def on_text(self, text: str) -> None:
        try:
            self._on_message(parse_json(text))
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
            self._fail_session(self._errors.malformed_error(f"{type(error).__name__} in {text[:80]}"))

    def on_binary(self, payload: bytes) -> None:
        # the vendor's messages are JSON in binary frames
        self.on_text(payload.decode(errors="replace"))

    def on_closed(self, code: int, reason: str) -> None:
        self._fail_session(wire.closed_error(self._errors, code, reason))

    def _on_message(self, message: Mapping[str, Any]) -> None:
        if "setupComplete" in message and not self._opened.done():
            self._opened.set_result(None)
        if "goAway" in message:
            self._is_expiring = True
        if message.get("serverContent"):
            self._turns.on_content(message["serverContent"])
        if message.get("toolCall"):
            self._turns.on_tool_call(message["toolCall"])
        if message.get("toolCallCancellation"):
            self._turns.on_calls_canceled(message["toolCallCancellation"].get("ids") or [])
        if message.get("usageMetadata"):
            self._turns.on_usage(message["usageMetadata"])

    def _fail_session(self, error: ModelError) -> None:
        if self._failure is not None:
            return
        self._failure = error
        if not self._opened.done():
            self._opened.set_exception(error)
        self._turns.fail_all(error)
        if self._socket is not None:
            self._socket.close()
