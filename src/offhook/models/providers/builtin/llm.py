"""The offline agent: rules instead of a model, speaking the graph's sentences and choosing the edge that is meant."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.models.ports import (
    EdgeHint,
    LlmEvent,
    LlmMessage,
    LlmRequest,
    LlmUsage,
    ModelRef,
    NodeHint,
    TextDelta,
    ToolCall,
    ToolCalled,
    ToolHint,
)
from offhook.models.providers.builtin import arguments, edge_matching, passage_quotes, phrases, spoken_values
from offhook.models.providers.builtin.words import answer_polarity, content_stems, essential_tokens, word_tokens

# Above this confidence an edge takes precedence over a tool whose arguments were given too.
SURE_SCORE: Final = 0.62
TOOL_FIT_SCORE: Final = 0.55
ANYTHING_ELSE: Final = "Is there anything else I can help you with?"
_PIECE: Final = re.compile(r"\S+\s*")
_AFTER_TOOL: Final = re.compile(
    r"\b(has heard|was told|has been told|is told|status|found|done|finished|after|answered|looked up|got|received)\b",
    re.IGNORECASE,
)
_TOOL_FAILED: Final = re.compile(
    r"\b(not found|fail\w*|error|invalid|unavailable|could not|cannot|can't|no result|does not exist)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RuleReply:
    """A sentence to say and the calls to make, in this order."""

    text: str = ""
    call: tuple[str, dict[str, Any]] | None = None


class BuiltinLlm:
    """Implements Llm. Equal requests get equal answers; it keeps no state between requests."""

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", "builtin", "rules")

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        if request.response_schema is not None:
            hinted = request.hint.variables if request.hint else ()
            spoken = "\n".join(m.content for m in request.messages if m.role == "user")
            found = arguments.extract_variables(spoken, request.response_schema, hinted)
            yield TextDelta(json.dumps(found, ensure_ascii=False))
        else:
            reply = RuleTurn(request).decide_reply()
            for piece in _PIECE.findall(reply.text):
                yield TextDelta(piece)
            if reply.call is not None:
                name, given = reply.call
                yield ToolCalled(ToolCall(f"call_{_calls_so_far(request.messages) + 1}", name, given))
        yield LlmUsage(0, 0)


def _calls_so_far(messages: Sequence[LlmMessage]) -> int:
    return sum(len(message.tool_calls) for message in messages)


class RuleTurn:
    """One request, seen from the current node."""

    def __init__(self, request: LlmRequest) -> None:
        self._messages = request.messages
        self._hint = request.hint or _hint_without_graph(request)
        offered = {spec.name for spec in request.tools}
        self._edges = tuple(edge for edge in self._hint.edges if edge.tool in offered)
        self._tools = tuple(tool for tool in self._hint.tools if tool.name in offered)
        self._opening = phrases.opening_sentence(self._hint)

    def decide_reply(self) -> RuleReply:
        if self._hint.entered:
            return self._reply_on_entry()
        if (result := self._fresh_result()) is not None:
            return self._after_tool(*result)
        heard = self._latest_utterance()
        if heard is None:
            return self._move_on() or RuleReply(self._current_question())
        return self._reply_to(heard)

    # -- entering -------------------------------------------------------------------------------------------------

    def _reply_on_entry(self) -> RuleReply:
        if (heard := self._latest_utterance()) is not None:
            if (ahead := self._answered_ahead(heard)) is not None:
                return ahead
            if (quoted := passage_quotes.quote_passage(heard, self._hint.passages)) is not None:
                return RuleReply(quoted)
            for tool in self._tools:
                required = tool.parameters.get("required") or ()
                found, missing = arguments.extract_arguments(tool.parameters, [heard], is_asked=False)
                if required and not missing:
                    return RuleReply(call=(tool.name, found))
        for tool in self._tools:
            if not tool.parameters.get("required") and tool.name in self._hint.prompt:
                return RuleReply(self._before_tool(), (tool.name, {}))
        if not self._opening.rstrip().endswith("?") and (onward := self._unconditional_edge()) is not None:
            return RuleReply(self._opening, (onward.tool, {}))
        return RuleReply(self._opening)

    def _before_tool(self) -> str:
        """Returns only an authored sentence: one made from the prompt would ask for what the tool is about to say."""
        return self._hint.say_text or ""

    def _answered_ahead(self, heard: str) -> RuleReply | None:
        """Handles "I would like an appointment on Tuesday": the day needs no question, unless it led to this node."""
        if len(essential_tokens(heard)) <= 3 or self._tools:
            return None
        choice = edge_matching.choose_edge(heard, self._edges)
        if choice is None or self._last_edge() == choice.edge.tool or self._edges_since_heard() > 2:
            return None
        asked = edge_matching.asked_value_kinds(choice.edge)
        is_answered = ("day" in asked and spoken_values.day_phrase(heard)) or (
            "time" in asked and spoken_values.clock_time(heard)
        )
        return RuleReply(call=(choice.edge.tool, {})) if is_answered else None

    def _unconditional_edge(self) -> EdgeHint | None:
        ways = [edge for edge in self._edges if edge_matching.is_unconditional(edge)]
        return ways[0] if len(ways) == 1 and len(self._edges) == 1 else None

    # -- answering ------------------------------------------------------------------------------------------------

    def _reply_to(self, heard: str) -> RuleReply:
        choice = edge_matching.choose_edge(heard, self._edges)
        if choice is not None and choice.score >= SURE_SCORE:
            return RuleReply(call=(choice.edge.tool, {}))
        if (tool := self._tool_for(heard)) is not None:
            return tool
        if (quoted := passage_quotes.quote_passage(heard, self._hint.passages)) is not None:
            return RuleReply(quoted)
        if choice is not None:
            return RuleReply(call=(choice.edge.tool, {}))
        if phrases.asks_again(word_tokens(heard)):
            return RuleReply(self._opening if self._times_asked() == 0 else self._current_question())
        if (only := self._only_edge(heard)) is not None:
            return RuleReply(call=(only.tool, {}))
        return self._ask_again()

    def _only_edge(self, heard: str) -> EdgeHint | None:
        """Returns the only edge for a real answer: a caller who answers the one question expects to go on. An edge that
        needs a wish ("wants to end the call") is never taken just because it is the only one.
        """
        attempts = self._times_asked()
        otherwise = edge_matching.fallback_edge(self._edges)
        if otherwise is not None and (edge_matching.is_otherwise(otherwise) or attempts > 0):
            return otherwise
        if len(self._edges) != 1 or self._tools:
            return None
        edge = self._edges[0]
        if edge_matching.is_unconditional(edge):
            return edge
        own, said = edge_matching.edge_polarity(edge), answer_polarity(heard)
        if own is not None and said is not None:
            return edge if own == said else None
        is_answer = bool(content_stems(heard)) or said is not None
        if own is not None or not is_answer or edge_matching.requires_wish(edge):
            return None
        return edge if edge_matching.takes_any_answer(edge) or self._fits_variables(heard) else None

    def _fits_variables(self, heard: str) -> bool:
        """Returns True when the answer has a value that the node wants."""
        for variable in self._hint.variables:
            name, prompt = str(variable.get("name") or ""), str(variable.get("prompt") or "")
            schema = {"type": variable.get("type") or "string", "description": prompt}
            if arguments.value_of(heard, name, schema, may_be_whole=True) is not None:
                return True
        return False

    def _ask_again(self) -> RuleReply:
        attempts = self._times_asked()
        missing = self._missing_parameter()
        if missing is not None and attempts < 2:
            return RuleReply(phrases.reprompt_sentence(0, missing, ()))
        return RuleReply(phrases.reprompt_sentence(attempts, self._current_question(), self._edges))

    def _move_on(self) -> RuleReply | None:
        onward = self._unconditional_edge()
        return None if onward is None else RuleReply(call=(onward.tool, {}))

    # -- tools ----------------------------------------------------------------------------------------------------

    def _tool_for(self, heard: str) -> RuleReply | None:
        earlier = self._earlier_utterances()
        for tool in self._tools:
            asks = edge_matching.phrase_fit(heard, tool.examples) >= TOOL_FIT_SCORE
            is_asked = not tool.examples or asks or len(self._tools) == 1
            found, missing = arguments.extract_arguments(tool.parameters, [heard], is_asked=is_asked and not asks)
            if not missing and (asks or tool.parameters.get("required")):
                return RuleReply(call=(tool.name, found))
            if not asks:
                continue
            found, missing = arguments.extract_arguments(tool.parameters, [heard, *earlier], is_asked=False)
            if not missing:
                return RuleReply(call=(tool.name, found))
            return RuleReply(phrases.ask_for(missing[0], tool.parameters["properties"][missing[0]]))
        return None

    def _missing_parameter(self) -> str | None:
        """Returns the question for a missing argument of the node's one tool, before its first call here."""
        if len(self._tools) != 1 or self._was_called_here(self._tools[0]):
            return None
        return self._question_for(self._tools[0]) or None

    def _after_tool(self, tool: ToolHint, result: Any) -> RuleReply:
        error = phrases.tool_error(result)
        if error is not None:
            failed = [edge for edge in self._edges if _TOOL_FAILED.search(f"{edge.label}. {edge.condition}")]
            if len(failed) == 1:
                return RuleReply(error, (failed[0].tool, {}))
            again = self._question_for(tool)
            return RuleReply(f"{error} {again}" if again else error)
        said = phrases.tool_result(result)
        ways = [edge for edge in self._edges if not _TOOL_FAILED.search(f"{edge.label}. {edge.condition}")]
        if len(ways) == 1 and (edge_matching.is_unconditional(ways[0]) or _AFTER_TOOL.search(ways[0].condition)):
            return RuleReply(said, (ways[0].tool, {}))
        return RuleReply(said if self._hint.kind == "endCall" or said.endswith("?") else f"{said} {ANYTHING_ELSE}")

    def _question_for(self, tool: ToolHint) -> str:
        """Returns the node's own question for the tool's argument, else one made from its parameters."""
        required = tool.parameters.get("required") or ()
        properties = tool.parameters.get("properties")
        if not required or not isinstance(properties, Mapping) or required[0] not in properties:
            return ""
        asked = self._current_question()
        return asked if asked.endswith("?") else phrases.ask_for(required[0], properties[required[0]])

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

    # -- history --------------------------------------------------------------------------------------------------

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
        return " ".join(reversed(said)).strip() or None

    def _earlier_utterances(self) -> list[str]:
        return [message.content for message in reversed(self._messages) if message.role == "user"][1:]

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

    def _current_question(self) -> str:
        return phrases.question_of(self._opening)


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
