"""One turn of a conversation that took place, read from its events: how the agent stood before it, and what came of it. Pure.

Turns are counted as the page counts them: each utterance of the caller is one, understood or not.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import LlmMessage, ToolCall
from offhook.runs.records.projections import CHAT_REWOUND
from offhook.voice import events
from offhook.voice.dialog.steps import ConversationState

_UTTERANCES: Final = frozenset({events.CALLER_SAID, events.CALLER_NOT_UNDERSTOOD})


@dataclass(frozen=True, slots=True)
class TakenEdge:
    """An edge that was taken; ``source`` and ``target`` are nodes."""

    id: str
    label: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class AnsweredTool:
    """A tool that was called. ``is_ok`` is None while it has not answered."""

    name: str
    arguments: Any
    is_ok: bool | None = None
    result: Any = None
    error: str | None = None


@dataclass(slots=True)
class TurnOutcome:
    """What came of one turn. ``steps`` are the names of the nodes that were entered."""

    answer: str = ""
    edges: list[TakenEdge] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    tools: list[AnsweredTool] = field(default_factory=list)
    values: JsonObject = field(default_factory=dict)
    end_reason: str | None = None
    failure: str | None = None

    @property
    def path(self) -> list[str]:
        """Returns the nodes that the edges led to."""
        return [edge.target for edge in self.edges]


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """``heard`` is None for words that were not understood. ``tools`` are the answers of all tools of the conversation, this
    turn's first."""

    heard: str | None
    node_id: str
    step: str
    state: ConversationState
    outcome: TurnOutcome
    tools: Sequence[AnsweredTool]


def read_recorded_turn(stored: Sequence[Mapping[str, Any]], number: int) -> RecordedTurn | None:
    """Returns the turn of this number, from 1; None where the conversation has none. Events are ``{type, data}``."""
    spoken = [place for place, event in enumerate(stored) if event["type"] in _UTTERANCES]
    if not 0 < number <= len(spoken):
        return None
    at = spoken[number - 1]
    end = spoken[number] if number < len(spoken) else len(stored)
    before = _StateReader()
    for event in stored[:at]:
        before.read(event["type"], event["data"])
    utterance = stored[at]
    outcome = read_outcome((event["type"], event["data"]) for event in stored[at + 1 : end])
    everything = read_outcome((event["type"], event["data"]) for event in stored)
    return RecordedTurn(
        heard=str(utterance["data"].get("text") or "") if utterance["type"] == events.CALLER_SAID else None,
        node_id=before.node_id,
        step=before.step,
        state=before.state,
        outcome=outcome,
        tools=[*outcome.tools, *everything.tools],
    )


def read_outcome(happened: Iterable[tuple[str, Mapping[str, Any]]]) -> TurnOutcome:
    """Returns what the events ``(type, data)`` of one turn say."""
    outcome, calls = TurnOutcome(), {}
    said: list[str] = []
    for kind, data in happened:
        if kind == events.AGENT_SAID:
            said.append(str(data.get("text") or "").strip())
        elif kind == events.EDGE_TAKEN:
            outcome.edges.append(
                TakenEdge(str(data["edge_id"]), str(data.get("label") or ""), str(data["from"]), str(data["to"]))
            )
        elif kind == events.NODE_ENTERED:
            outcome.steps.append(str(data.get("name") or data.get("node_id")))
        elif kind == events.TOOL_CALLED:
            calls[data["id"]] = AnsweredTool(str(data["name"]), data.get("arguments"))
        elif kind == events.TOOL_ANSWERED and data["id"] in calls:
            calls[data["id"]] = _answered(calls[data["id"]], data)
        elif kind == events.VARIABLES_EXTRACTED:
            outcome.values.update(data.get("values") or {})
        elif kind == events.MODEL_FAILED:
            outcome.failure = str(data.get("message") or data.get("code") or "")
        elif kind == events.CALL_ENDED:
            outcome.end_reason = str(data["end_reason"])
    outcome.answer = " ".join(text for text in said if text)
    outcome.tools = list(calls.values())
    return outcome


def _answered(call: AnsweredTool, data: Mapping[str, Any]) -> AnsweredTool:
    error = data.get("error")
    return AnsweredTool(
        call.name,
        call.arguments,
        data.get("ok") is not False,
        data.get("result"),
        None if error is None else str(error),
    )


class _StateReader:
    """Follows a conversation's events and knows how it stands."""

    def __init__(self) -> None:
        self.node_id = ""
        self.step = ""
        self._messages: list[LlmMessage] = []
        self._values: JsonObject = {}
        self._visited: list[str] = []
        self._calls: dict[str, ToolCall] = {}

    def read(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == events.NODE_ENTERED:
            self.node_id, self.step = str(data["node_id"]), str(data.get("name") or data["node_id"])
            self._visited.append(self.step)
        elif kind == events.CALLER_SAID and data.get("text"):
            self._messages.append(LlmMessage("user", str(data["text"])))
        elif kind == events.DIGITS_PRESSED:
            self._messages.append(LlmMessage("user", f"(entered on the keypad) {data.get('digits')}"))
        elif kind == events.AGENT_SAID and data.get("text"):
            self._messages.append(LlmMessage("assistant", str(data["text"])))
        elif kind == events.TOOL_CALLED:
            self._calls[str(data["id"])] = ToolCall(str(data["id"]), str(data["name"]), data.get("arguments") or {})
        elif kind == events.TOOL_ANSWERED:
            self._add_tool(data)
        elif kind == events.VARIABLES_EXTRACTED:
            self._values.update(data.get("values") or {})
        elif kind == CHAT_REWOUND:
            self._rewind(data)

    def _add_tool(self, data: Mapping[str, Any]) -> None:
        """Adds a call together with its answer: vendors refuse one without the other."""
        call = self._calls.pop(str(data["id"]), None)
        if call is None:
            return
        answer = {"error": data["error"]} if data.get("error") is not None else data.get("result")
        content = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        self._messages += [
            LlmMessage("assistant", "", tool_calls=(call,)),
            LlmMessage("tool", content, tool_call_id=call.id),
        ]

    def _rewind(self, data: Mapping[str, Any]) -> None:
        self.node_id, self.step = str(data["node_id"]), str(data.get("name") or data["node_id"])
        self._values, self._visited = dict(data["values"]), [str(name) for name in data["nodes_visited"]]
        lines = 0
        for place, message in enumerate(self._messages):
            lines += message.role in {"user", "assistant"} and not message.tool_calls
            if lines > data["lines"]:
                del self._messages[place:]
                return

    @property
    def state(self) -> ConversationState:
        return {
            "node_id": self.node_id,
            "entered": False,
            "is_over": False,
            "history": [asdict(message) for message in self._messages],
            "nodes_visited": list(self._visited),
            "values": dict(self._values),
        }
