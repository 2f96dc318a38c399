"""The model's turns in one Gemini Live session: at most one is wanted, and the vendor does not name them."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from offhook.models.ports import ModelError, SpeechEvent, SpokenPiece, ToolCall, ToolCalled
from offhook.models.providers.gemini_live import wire
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.speech_usage import SpeechUsage

# Words may come after the last audio; the vendor ends a turn when it believes that it was heard.
LAST_WORDS_S: Final = 0.4


@dataclass(eq=False)
class Turn:
    """A turn that was asked for. ``events`` end with None, or with an error."""

    item_id: str
    has_spoken: bool = False
    is_over: bool = False
    is_canceled: bool = False
    events: "asyncio.Queue[SpeechEvent | ModelError | None]" = field(default_factory=asyncio.Queue)


class TurnReader:
    """Sorts what the vendor sends into turns. What it says unasked is dropped, and ends the session's use."""

    def __init__(
        self, errors: VendorErrors, on_usage: Callable[[SpeechUsage | None], None], on_stray: Callable[[], None]
    ) -> None:
        """``on_stray``: the vendor has said something that is not played."""
        self._errors = errors
        self._on_usage = on_usage
        self._on_stray = on_stray
        self.active: Turn | None = None
        # the turn before is not complete for the vendor, although all of it is here
        self._is_draining = False
        self._last_words: asyncio.TimerHandle | None = None
        # the turns whose usage the vendor has still to report
        self._unreported = 0
        self._is_reported = asyncio.Event()
        self._is_reported.set()
        # calls whose results the vendor waits for, by id
        self.open_calls: dict[str, ToolCall] = {}
        self._called: set[str] = set()

    # -- ours -----------------------------------------------------------------------------------------------------

    def begin_turn(self, *, goes_on: bool) -> Turn:
        """Expects a turn of the model; ``goes_on``: it is what follows the results of the calls before."""
        # of no other session either: one answer may come from two of them
        self.active = Turn(f"turn_{uuid4()}")
        # with its calls a turn is reported or not, as the vendor likes: what follows them is reported
        if not goes_on or not self._unreported:
            self._expect_report()
        return self.active

    def _expect_report(self) -> None:
        self._unreported += 1
        self._is_reported.clear()

    async def wait_reported(self) -> None:
        await self._is_reported.wait()

    def fail_all(self, error: ModelError) -> None:
        """Ends everything: the connection is gone."""
        while self._unreported:
            self._unreported -= 1
            self._on_usage(None)
        self._is_reported.set()
        if self.active is not None:
            self._end_turn(self.active, error)

    def _end_turn(self, turn: Turn, error: ModelError | None = None) -> None:
        if self._last_words is not None:
            self._last_words.cancel()
            self._last_words = None
        turn.is_over = True
        turn.events.put_nowait(error)
        if self.active is turn:
            self.active = None

    def _end_early(self, turn: Turn) -> None:
        self._is_draining = True
        self._end_turn(turn)

    # -- the vendor's ---------------------------------------------------------------------------------------------

    def on_usage(self, usage: Mapping[str, Any]) -> None:
        self._unreported = max(self._unreported - 1, 0)
        if not self._unreported:
            self._is_reported.set()
        self._on_usage(wire.read_usage(usage))

    def on_content(self, content: Mapping[str, Any]) -> None:
        """Handles all parts of one message: audio, words and marks may come together or apart."""
        for part in (content.get("modelTurn") or {}).get("parts") or ():
            data = (part.get("inlineData") or {}).get("data")
            if data and not part.get("thought"):
                self._on_audio(base64.b64decode(data))
        text = (content.get("outputTranscription") or {}).get("text")
        turn = self.active
        if text and turn is not None and not self._is_draining:
            turn.events.put_nowait(SpokenPiece(turn.item_id, text=str(text)))
        is_cut = content.get("interrupted") and turn is not None and not self._is_draining
        if is_cut and turn is not None and not turn.is_canceled and not turn.has_spoken:
            # Ours has not begun: what it has interrupted is a turn that nobody has asked for.
            self._is_draining = True
            self._expect_report()
            self._on_stray()
        elif is_cut and turn is not None and not turn.is_canceled:
            self._end_turn(turn, self._errors.make_error("cut_off", "The vendor interrupted its own answer."))
        if content.get("generationComplete") and turn is not None and self.active is turn:
            self._last_words = asyncio.get_running_loop().call_later(LAST_WORDS_S, self._end_early, turn)
        if content.get("turnComplete"):
            self._on_complete(str(content.get("turnCompleteReason") or ""))

    def _on_audio(self, audio: bytes) -> None:
        turn = self.active
        if turn is None:
            self._on_stray()
            return
        self._is_draining = False
        turn.has_spoken = True
        turn.events.put_nowait(SpokenPiece(turn.item_id, audio=audio))

    def _on_complete(self, reason: str) -> None:
        if self._is_draining:
            self._is_draining = False
        elif self.active is not None:
            turn = self.active
            has_no_fault = not reason or reason in wire.UNFINISHED_REASONS
            is_answer = turn.is_canceled or (turn.has_spoken and has_no_fault)
            self._end_turn(turn, None if is_answer else wire.reason_error(self._errors, reason))

    def on_tool_call(self, message: Mapping[str, Any]) -> None:
        """Ends the turn with its calls; the vendor goes on when it has all results."""
        turn = self.active
        if turn is None or turn.is_canceled:
            self._on_stray()
            return
        self._is_draining = False
        calls = [
            ToolCall(str(call["id"]), str(call["name"]), call.get("args") or {}) for call in message["functionCalls"]
        ]
        if not all(isinstance(call.arguments, dict) for call in calls):
            self._end_turn(turn, self._errors.malformed_error("arguments that are no object"))
            return
        self.open_calls = {call.id: call for call in calls}
        turn.events.put_nowait(SpokenPiece(turn.item_id))
        for call in calls:
            # side effects happen once, whatever is repeated
            if call.id not in self._called:
                self._called.add(call.id)
                turn.events.put_nowait(ToolCalled(call))
        self._end_turn(turn)

    def on_calls_canceled(self, ids: list[Any]) -> None:
        """Notes that the vendor takes no result for these calls any more."""
        if self.open_calls.keys() & {str(call_id) for call_id in ids}:
            self._on_stray()
