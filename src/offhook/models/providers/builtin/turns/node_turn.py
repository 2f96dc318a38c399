"""One request to the offline agent, seen from the current node: what was said and done so far."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.models.ports import (
    EdgeHint,
    LlmMessage,
    LlmRequest,
    NodeHint,
    ToolHint,
)
from offhook.models.providers.builtin import edge_matching, edge_values, phrases
from offhook.models.providers.builtin.english.persona import read_prompts
from offhook.models.providers.builtin.english.utterance import shorten_utterance
from offhook.models.providers.builtin.hearing.punctuation import punctuate
from offhook.models.providers.builtin.meaning import UNKNOWN_MEANING, SentenceMeaning
from offhook.models.providers.builtin.turns.read_back import read_back
from offhook.models.spoken_text import question_of

# Above this confidence an edge takes precedence over a tool whose arguments were given too.
SURE_SCORE: Final = 0.62
# Utterances before the last one in which an argument is looked for.
MAX_EARLIER: Final = 30
# A sentence that answers several questions ahead passes so many nodes at most; the interpreter allows eight steps.
MAX_EDGES_A_TURN: Final = 5
ASKS_MORE: Final = re.compile(r"\b(?:anything|something) (?:else|more)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RuleReply:
    """A sentence to say and the calls to make, in this order."""

    text: str = ""
    call: tuple[str, dict[str, Any]] | None = None


class NodeTurn:
    """The node's edges and tools, the author's facts and the history of a request."""

    def __init__(self, request: LlmRequest, meaning: SentenceMeaning = UNKNOWN_MEANING) -> None:
        self._request = request
        self._messages = request.messages
        self._meaning = meaning
        self._hint = request.hint or _hint_without_graph(request)
        offered = {spec.name for spec in request.tools}
        self._edges = tuple(edge for edge in self._hint.edges if edge.tool in offered)
        self._tools = tuple(tool for tool in self._hint.tools if tool.name in offered)
        self._opening = phrases.opening_sentence(self._hint)
        if not phrases.is_written(self._hint):
            self._opening = f"{read_back(self._hint.prompt, self._messages)} {self._opening}".strip()
        self._facts = read_prompts(self._hint.persona, self._hint.prompt).with_statements(self._opening)

    def _edge_taken_before(self) -> str | None:
        """Returns the function of the edge by which the call left this node the last time; None on the first visit,
        where a function of the same name was another node's.
        """
        if not self._hint.is_revisit:
            return None
        here = {edge.tool for edge in self._edges}
        calls = [call.name for message in self._messages for call in message.tool_calls]
        return next((name for name in reversed(calls) if name in here), None)

    def _unconditional_edge(self) -> EdgeHint | None:
        ways = [edge for edge in self._edges if edge_matching.is_unconditional(edge)]
        return ways[0] if len(ways) == 1 and len(self._edges) == 1 else None

    def _fresh_result(self) -> tuple[ToolHint, Any] | None:
        """Returns the result of a custom tool that the caller has not heard yet."""
        by_id = {call.id: call for message in self._messages for call in message.tool_calls}
        tools = {tool.name: tool for tool in self._tools}
        for message in _reversed_until_speech(self._messages):
            call = by_id.get(message.tool_call_id or "")
            if message.role == "tool" and call is not None and call.name in tools:
                return tools[call.name], _parse_json(message.content)
        return None

    def _was_called_here(self, tool: ToolHint) -> bool:
        for message in reversed(self._messages):
            names = [call.name for call in message.tool_calls]
            if tool.name in names:
                return True
            if any(name not in {t.name for t in self._tools} for name in names):
                return False
        return False

    def _latest_utterance(self) -> str | None:
        """Returns the caller's words since we last spoke; None when there are none."""
        said: list[str] = []
        for message in reversed(self._messages):
            if message.role == "assistant" and message.content and not message.tool_calls:
                break
            if message.role == "user":
                said.append(message.content)
            elif said:
                break
        heard = punctuate(shorten_utterance(" ".join(reversed(said))))
        return edge_values.name_weekend(heard, self._hint.weekday, self._opening) or None

    def _earlier_utterances(self) -> list[str]:
        said = [message.content for message in reversed(self._messages) if message.role == "user"]
        return [punctuate(shorten_utterance(text)) for text in said[1 : MAX_EARLIER + 1]]

    def _last_edge(self) -> str | None:
        called = [call.name for message in self._messages for call in message.tool_calls]
        return called[-1] if called else None

    def _edges_since_heard(self) -> int:
        count = 0
        for message in reversed(self._messages):
            if message.role == "user":
                break
            count += len(message.tool_calls)
        return count

    def _times_asked(self) -> int:
        """Counts how many times in a row we have repeated the question."""
        count = 0
        for message in reversed(self._messages):
            if message.role == "tool" or message.tool_calls:
                break
            if message.role == "assistant":
                if not phrases.is_reprompt(message.content):
                    break
                count += 1
        return count

    def _last_sentence(self) -> str:
        """Returns what the agent said last."""
        said = (message.content for message in reversed(self._messages) if message.role == "assistant")
        return next((text for text in said if text), "")

    def _last_question(self) -> str:
        """Returns what the caller was asked last, which a tool's answer or a document may have brought with it."""
        asked = question_of(self._last_sentence())
        return asked if asked.endswith("?") else self._current_question()

    def _current_question(self) -> str:
        """Returns the question of the node, or whether there is anything else once a tool has answered it."""
        asked = question_of(self._last_sentence())
        is_answered = bool(self._tools) and not self._hint.entered and ASKS_MORE.search(asked) is not None
        return asked if is_answered else question_of(self._opening)


def _reversed_until_speech(messages: Sequence[LlmMessage]) -> Iterator[LlmMessage]:
    for message in reversed(messages):
        if message.role == "user" or (message.role == "assistant" and message.content and not message.tool_calls):
            return
        yield message


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _hint_without_graph(request: LlmRequest) -> NodeHint:
    """Builds a hint for a request without one: tools without parameters are edges, the others functions."""
    edges, tools = [], []
    for spec in request.tools:
        if spec.parameters.get("properties"):
            tools.append(ToolHint(spec.name, spec.description, (), spec.parameters))
        else:
            edges.append(EdgeHint(spec.name, spec.name.replace("_", " "), spec.description))
    prompt = "\n".join(message.content for message in request.messages if message.role == "system")
    has_spoken = any(message.role == "assistant" for message in request.messages)
    has_heard = any(message.role == "user" for message in request.messages)
    return NodeHint(
        "", "", "agentNode", prompt, not has_spoken and not has_heard, edges=tuple(edges), tools=tuple(tools)
    )
