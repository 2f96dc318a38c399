"""Finds sentences and prompts that do not fit what a step can do: keys, questions, functions, transfers."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.analysis.transitions import is_unconditional
from offhook.workflows.graph import Node, WorkflowGraph
from offhook.workflows.nodes import KINDS
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation.references import custom_tool_name

# An MCP tool without a timeout of its own waits 30 s; after 10 s of silence callers hang up.
MAX_TOOL_WAIT_S: Final = 10.0
_SPOKEN_FIELDS: Final = ("say", "greeting", "offline_say")
_TEXT_FIELDS: Final = (*_SPOKEN_FIELDS, "prompt")
_DIGITS: Final = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "star": "*", "pound": "#", "hash": "#",
}  # fmt: skip
_PRESS: Final = re.compile(
    rf"\bpress(?:es)?\s+(?:the\s+)?(?:key\s+|number\s+)?([0-9*#]|{'|'.join(_DIGITS)})(?![\w.]\w)", re.IGNORECASE
)
_ASKS: Final = re.compile(
    r"\?|\b(please|tell me|say|press|enter|let me know|give me|choose|which|what|name)\b", re.IGNORECASE
)
_FUNCTION: Final = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_SLOT: Final = re.compile(r"\{\{[^{}]*\}\}")
_TRANSFER: Final = re.compile(
    r"\b(?:transfer|connect|hand over|put)\s+(?:the\s+(?:caller|call|customer|patient|guest)|them|him|her)\s+"
    r"(?:(?:through|over|on)\s+)?(?:to|with)\b",
    re.IGNORECASE,
)


def text_findings(graph: WorkflowGraph, tools: Mapping[str, ToolFacts] | None) -> Iterator[GraphFinding]:
    """Yields the findings; what needs tools is only looked at where they are known."""
    # words with underscores that are no functions: variables that authors mention in prompts
    known_names = {str(variable["name"]) for node in graph.nodes.values() for variable in node.extraction_variables}
    for node in graph.nodes.values():
        if node.kind not in KINDS or not KINDS[node.kind].is_conversational:
            continue
        yield from _missing_keys(node, graph)
        yield from _unasked_questions(node, graph)
        if tools is not None:
            yield from _slow_tools(node, tools)
            yield from _missing_functions(node, graph, tools, known_names)
            yield from _missing_transfer(node, graph, tools)


def _missing_keys(node: Node, graph: WorkflowGraph) -> Iterator[GraphFinding]:
    keys = {edge.digits for edge in graph.edges_from(node.id) if edge.digits}
    if node.kind == "endCall":
        return
    for field in _TEXT_FIELDS:
        for word in _PRESS.findall(str(node.data.get(field) or "")):
            key = _DIGITS.get(word.lower(), word)
            # keys that begin an entry ("press 1 2 3 4") are not options of a menu
            if not any(digits.startswith(key) for digits in keys) and (keys or not node.extraction_enabled):
                message = f"“{node.name}” offers the key {key}, but none of its transitions has that key"
                yield _node_finding(node, field, "prompt_names_missing_key", message, is_error=True)


def _unasked_questions(node: Node, graph: WorkflowGraph) -> Iterator[GraphFinding]:
    edges = graph.edges_from(node.id)
    if node.kind == "endCall":
        for field in ("say", "offline_say"):
            if str(node.data.get(field) or "").rstrip().endswith("?"):
                message = f"“{node.name}” ends the call with a question, which the caller cannot answer"
                yield _node_finding(node, field, "end_asks_question", message)
    elif node.say and edges and not any(map(is_unconditional, edges)) and _ASKS.search(node.say) is None:
        message = f"The fixed sentence of “{node.name}” asks nothing, but its transitions wait for an answer"
        yield _node_finding(node, "say", "step_asks_nothing", message)


def _slow_tools(node: Node, tools: Mapping[str, ToolFacts]) -> Iterator[GraphFinding]:
    for uuid in dict.fromkeys(node.tool_uuids):
        facts = tools.get(uuid)
        if facts is None or facts.is_transfer or facts.timeout_s is None or facts.timeout_s <= MAX_TOOL_WAIT_S:
            continue
        message = f"Callers at “{node.name}” wait up to {facts.timeout_s:g} s for “{facts.name}”. Set a shorter timeout"
        yield _node_finding(node, "tool_uuids", "tool_timeout_long", message)


def _missing_functions(
    node: Node, graph: WorkflowGraph, tools: Mapping[str, ToolFacts], known_names: set[str]
) -> Iterator[GraphFinding]:
    offered = known_names | {edge.tool_name for edge in graph.edges_from(node.id)} | set(node.tool_uuids)
    for uuid in node.tool_uuids:
        if (facts := tools.get(uuid)) is not None:
            offered |= {custom_tool_name(facts.name), *(facts.functions or {}), *(facts.functions or {}).values()}
    for name in dict.fromkeys(_FUNCTION.findall(_SLOT.sub(" ", node.prompt))):
        if name not in offered:
            message = f"The prompt of “{node.name}” names the function {name}, which this step does not have"
            yield _node_finding(node, "prompt", "prompt_names_missing_tool", message, is_error=True)


def _missing_transfer(node: Node, graph: WorkflowGraph, tools: Mapping[str, ToolFacts]) -> Iterator[GraphFinding]:
    found = _TRANSFER.search(node.prompt)
    can_transfer = any((facts := tools.get(uuid)) and facts.is_transfer for uuid in node.tool_uuids)
    leads_on = any(
        (facts := tools.get(uuid)) and facts.is_transfer
        for edge in graph.edges_from(node.id)
        for uuid in graph.nodes[edge.target].tool_uuids
    )
    if found is not None and not can_transfer and not leads_on:
        message = f"The prompt of “{node.name}” transfers the call, but this step has no transfer tool"
        yield _node_finding(node, "prompt", "transfer_without_target", message, is_error=True)


def _node_finding(node: Node, field: str, code: str, message: str, *, is_error: bool = False) -> GraphFinding:
    return GraphFinding("node", node.id, f"data.{field}", code, "error" if is_error else "warning", message)
