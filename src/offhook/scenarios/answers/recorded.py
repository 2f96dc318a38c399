"""A model's answer with its times, as it is kept. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import LlmEvent, LlmUsage, TextDelta, ToolCall, ToolCalled

# An answer of a thousand words has about a tenth of this, with the times of its pieces.
MAX_ANSWER_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A part of an answer, and when it came: seconds from the request, to the millisecond."""

    at_s: float
    event: LlmEvent


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A complete answer."""

    pieces: tuple[AnswerPiece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.event.text for piece in self.pieces if isinstance(piece.event, TextDelta))

    @property
    def usage(self) -> LlmUsage | None:
        """Returns what the vendor counted; None when it reported nothing."""
        found = [piece.event for piece in self.pieces if isinstance(piece.event, LlmUsage)]
        if not found:
            return None
        return LlmUsage(
            sum(usage.prompt_tokens for usage in found),
            sum(usage.completion_tokens for usage in found),
            sum(usage.cached_tokens for usage in found),
        )

    def as_json(self) -> JsonObject:
        pieces: list[Any] = [_piece_as_json(piece) for piece in self.pieces]
        return {"pieces": pieces}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "RecordedAnswer":
        """Raises KeyError, TypeError and ValueError for anything else than :meth:`as_json` returns."""
        return cls(tuple(_read_piece(piece) for piece in plain["pieces"]))


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer with the name of its request, and the model that gave it: who was asked, and how it was configured."""

    name: str
    occurrence: int
    answer: RecordedAnswer
    asked: str
    model: JsonObject


def _piece_as_json(piece: AnswerPiece) -> JsonObject:
    event = piece.event
    if isinstance(event, TextDelta):
        return {"at_s": piece.at_s, "text": event.text}
    if isinstance(event, ToolCalled):
        call = event.call
        return {"at_s": piece.at_s, "call": {"id": call.id, "name": call.name, "arguments": call.arguments}}
    return {"at_s": piece.at_s, "usage": [event.prompt_tokens, event.completion_tokens, event.cached_tokens]}


def _read_piece(plain: Mapping[str, Any]) -> AnswerPiece:
    at_s = float(plain["at_s"])
    if "text" in plain:
        return AnswerPiece(at_s, TextDelta(str(plain["text"])))
    if "call" in plain:
        call = plain["call"]
        return AnswerPiece(at_s, ToolCalled(ToolCall(str(call["id"]), str(call["name"]), dict(call["arguments"]))))
    prompt, completion, cached = (int(count) for count in plain["usage"])
    return AnswerPiece(at_s, LlmUsage(prompt, completion, cached))
