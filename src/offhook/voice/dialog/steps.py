"""What a conversation yields in a turn, and its state between two turns."""

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from offhook.kit.json_values import JsonObject
from offhook.models.ports import LlmEvent, SpokenPiece, TextDelta
from offhook.voice.ports import RecordedSound
from offhook.workflows.graph import Node


@dataclass(frozen=True, slots=True)
class AgentSpeech:
    """Text for the caller. ``is_scripted``: a written sentence, not a model's stream; ``sound``: its recording.

    ``spoken``: the model has said it itself, and no voice is needed.
    """

    text: str
    is_scripted: bool = False
    sound: RecordedSound | None = None
    spoken: SpokenPiece | None = None


@dataclass(frozen=True, slots=True)
class NodeEntered:
    """The conversation entered another node; everything said so far belongs to the previous one."""

    node: Node


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """``holds_floor``: the caller cannot interrupt until the next step."""

    name: str
    holds_floor: bool = False


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """The graph reached an end node, or a tool ended the call: hang up once everything has been played."""

    reason: str = "agent_ended"


ConversationStep = AgentSpeech | NodeEntered | ToolStarted | ConversationEnded


class ConversationState(TypedDict):
    """A conversation's state between two turns, as JSON."""

    node_id: str
    entered: bool
    is_over: bool
    history: list[JsonObject]
    nodes_visited: list[str]
    values: JsonObject
    summary: NotRequired[str]


def read_speech(event: LlmEvent | SpokenPiece) -> AgentSpeech | None:
    """Returns what an event says; None for calls and empty text."""
    if isinstance(event, SpokenPiece):
        return AgentSpeech(event.text, spoken=event)
    return AgentSpeech(event.text) if isinstance(event, TextDelta) and event.text else None
