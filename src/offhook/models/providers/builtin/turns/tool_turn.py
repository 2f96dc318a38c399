"""Calls the tools of a node and reports their results."""

import re
from collections.abc import Mapping
from typing import Any, Final

from offhook.models.ports import (
    ToolHint,
)
from offhook.models.providers.builtin import arguments, edge_matching, phrases
from offhook.models.providers.builtin.english import overlap
from offhook.models.providers.builtin.turns.node_turn import NodeTurn, RuleReply
from offhook.models.providers.builtin.value_kinds import kind_of

TOOL_FIT_SCORE: Final = 0.55
ANYTHING_ELSE: Final = "Is there anything else I can help you with?"
_AFTER_TOOL: Final = re.compile(
    r"\b(has heard|was told|has been told|is told|status|found|done|finished|after|answered|looked up|got|received)\b",
    re.IGNORECASE,
)
_TOOL_FAILED: Final = re.compile(
    r"\b(not found|fail\w*|error|invalid|unavailable|could not|cannot|can't|no result|does not exist)\b", re.IGNORECASE
)


class ToolTurn(NodeTurn):
    """A turn with tools that a caller's words call."""

    def _tool_for(self, heard: str) -> RuleReply | None:
        earlier = self._earlier_utterances()
        for tool in self._tools:
            asks = overlap.phrase_fit(heard, tool.examples) >= TOOL_FIT_SCORE
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

    def _tool_for_number(self, text: str) -> RuleReply | None:
        """Calls a tool whose one required argument is a number that the caller has just said."""
        for tool in self._tools:
            properties = tool.parameters.get("properties") or {}
            required: list[str] = list(tool.parameters.get("required") or ())
            if len(required) != 1 or kind_of(required[0], str(properties.get(required[0], {}))) != "digits":
                continue
            found, missing = arguments.extract_arguments(tool.parameters, [text], is_asked=False)
            if not missing and len(str(found[required[0]])) >= arguments.MIN_REMARKED_DIGITS:
                return RuleReply(call=(tool.name, found))
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
