"""The model's turns in one Nova Sonic session: blocks of words, of sound and of calls, one after another."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from offhook.kit.json_values import parse_json
from offhook.models.ports import ModelError, SpeechEvent, SpokenPiece, ToolCall, ToolCalled
from offhook.models.speech.errors import VendorErrors

# Words that were not announced come after the sound.
LAST_WORDS_S: Final = 0.4
# Another call of the same turn follows at once.
LAST_CALL_S: Final = 0.1


@dataclass(eq=False)
class NovaTurn:
    """A turn that was asked for. ``events`` end with None, or with an error."""

    item_id: str
    has_sound: bool = False
    has_words: bool = False
    is_over: bool = False
    is_canceled: bool = False
    calls: dict[str, ToolCall] = field(default_factory=dict)
    events: "asyncio.Queue[SpeechEvent | ModelError | None]" = field(default_factory=asyncio.Queue)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of content that is on its way."""

    kind: str
    role: str
    stage: str


class NovaTurnReader:
    """Sorts the vendor's blocks into turns. What it says unasked is dropped, and ends the session's use."""

    def __init__(self, errors: VendorErrors, on_stray: Callable[[], None]) -> None:
        """``on_stray``: the vendor has said something that is not played."""
        self._errors = errors
        self._on_stray = on_stray
        self._blocks: dict[str, _Block] = {}
        self._end_timer: asyncio.TimerHandle | None = None
        self.active: NovaTurn | None = None
        # calls whose results the vendor waits for, by id
        self.open_calls: dict[str, ToolCall] = {}
        self._called: set[str] = set()

    def begin_turn(self) -> NovaTurn:
        # of no other session either: one answer may come from two of them
        self.active = NovaTurn(f"turn_{uuid4()}")
        return self.active

    def fail_all(self, error: ModelError) -> None:
        """Ends the turn that waits: the stream is gone."""
        if self.active is not None:
            self._end_turn(self.active, error)

    def _end_turn(self, turn: NovaTurn, error: ModelError | None = None) -> None:
        self._stop_timer()
        if turn.is_over:
            return
        turn.is_over = True
        if error is None and turn.calls:
            self.open_calls = dict(turn.calls)
            turn.events.put_nowait(SpokenPiece(turn.item_id))
            for call in turn.calls.values():
                turn.events.put_nowait(ToolCalled(call))
        turn.events.put_nowait(error)
        if self.active is turn:
            self.active = None

    def _end_soon(self, turn: NovaTurn, seconds: float) -> None:
        self._stop_timer()
        self._end_timer = asyncio.get_running_loop().call_later(seconds, self._end_turn, turn)

    def _stop_timer(self) -> None:
        if self._end_timer is not None:
            self._end_timer.cancel()
            self._end_timer = None

    # -- the vendor's ---------------------------------------------------------------------------------------------

    def on_event(self, name: str, value: Mapping[str, Any]) -> None:
        """Handles an event; unknown ones are ignored."""
        match name:
            case "completionStart":
                if self.active is None:
                    self._on_stray()
            case "contentStart":
                self._on_block(value)
            case "textOutput":
                self._on_words(self._blocks.get(str(value.get("contentId"))), str(value["content"]))
            case "audioOutput":
                self._on_sound(base64.b64decode(value["content"], validate=True))
            case "toolUse":
                self._on_call(value)
            case "contentEnd":
                self._on_block_end(value)
            case "completionEnd":
                self._on_completion_end()

    def _on_block(self, value: Mapping[str, Any]) -> None:
        fields = parse_json(value.get("additionalModelFields") or "{}")
        block = _Block(str(value["type"]), str(value["role"]), str(fields.get("generationStage") or ""))
        self._blocks[str(value["contentId"])] = block
        is_answer = block.role == "ASSISTANT" and block.stage != "FINAL"
        if self.active is None and is_answer:
            self._on_stray()

    def _on_words(self, block: _Block | None, text: str) -> None:
        turn = self.active
        if block is None or block.role != "ASSISTANT" or turn is None or turn.is_canceled:
            return
        if text.replace(" ", "") == '{"interrupted":true}':
            self._end_turn(turn, self._errors.make_error("cut_off", "The vendor interrupted its own answer."))
        elif block.stage != "FINAL":
            self._add_words(turn, text)
        elif not turn.has_words:
            # what was spoken is what was announced; words come this late only when nothing was
            self._add_words(turn, text)
            turn.has_words = False

    def _add_words(self, turn: NovaTurn, text: str) -> None:
        glue = " " if turn.has_words and text[:1] not in ("", " ") else ""
        turn.has_words = True
        turn.events.put_nowait(SpokenPiece(turn.item_id, text=glue + text))

    def _on_sound(self, audio: bytes) -> None:
        turn = self.active
        if turn is None:
            self._on_stray()
            return
        if turn.is_canceled:
            return
        if len(audio) % 2:
            self._end_turn(turn, self._errors.malformed_error("half a sample"))
            self._on_stray()
            return
        turn.has_sound = True
        turn.events.put_nowait(SpokenPiece(turn.item_id, audio=audio))

    def _on_call(self, value: Mapping[str, Any]) -> None:
        turn = self.active
        if turn is None or turn.is_canceled:
            self._on_stray()
            return
        self._stop_timer()
        call_id, arguments = str(value["toolUseId"]), _read_arguments(value.get("content"))
        if arguments is None:
            # the stream goes on: what the turn has cost comes after it
            self._end_turn(turn, self._errors.malformed_error("arguments that are no JSON object"))
            self._on_stray()
            return
        # side effects happen once, whatever is repeated
        if call_id not in self._called:
            self._called.add(call_id)
            turn.calls[call_id] = ToolCall(call_id, str(value["toolName"]), arguments)

    def _on_block_end(self, value: Mapping[str, Any]) -> None:
        block, turn = self._blocks.pop(str(value.get("contentId")), None), self.active
        reason = str(value.get("stopReason") or "")
        if turn is None or turn.is_canceled or (block is not None and block.role == "USER"):
            return
        if reason == "CONTENT_FILTERED":
            self._end_turn(
                turn,
                ModelError("realtime_content_filtered", "The vendor's filter cut the answer off.", retryable=False),
            )
        elif reason == "INTERRUPTED":
            self._end_turn(turn, self._errors.make_error("cut_off", "The vendor interrupted its own answer."))
        elif reason == "TOOL_USE":
            self._end_soon(turn, LAST_CALL_S)
        elif reason == "END_TURN" and turn.has_sound:
            self._end_soon(turn, 0.0 if turn.has_words else LAST_WORDS_S)

    def _on_completion_end(self) -> None:
        turn = self.active
        if turn is None or turn.is_canceled:
            return
        has_answer = turn.has_sound or turn.calls
        self._end_turn(
            turn, None if has_answer else self._errors.make_error("cut_off", "The turn ended without an answer.")
        )


def _read_arguments(content: Any) -> dict[str, Any] | None:
    """Returns the arguments of a call; None when they are no JSON object."""
    try:
        found = parse_json(content or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
