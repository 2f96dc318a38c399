"""Checks a definition's references to the outside: trigger paths, tools and variables."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from offhook.workflows.graph import Node, WorkflowGraph, parse_graph
from offhook.workflows.template import find_variables
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation.issues import ValidationIssue

# Set in every run, however it was started.
RUN_VARIABLES: Final = frozenset(
    {
        "phone_number",
        "caller_number",
        "called_number",
        "call_language",
        "direction",
        "mode",
        "provider",
        "campaign_id",
        "call_id",
        "workflow_id",
        "workflow_name",
        "workflow_uuid",
        "workflow_run_id",
        "workflow_run_name",
        "source_uuid",
    }
)
_SPOKEN_FIELDS: Final = ("prompt", "greeting", "say", "offline_say")


def custom_tool_name(name: str) -> str:
    """Returns a custom tool's function name: lower case, other characters become ``_``, runs of ``_`` become one."""
    return re.sub(r"_+", "_", re.sub(r"[^a-z0-9_]", "_", name.lower()))


def trigger_paths(definition: Mapping[str, Any]) -> Iterator[tuple[str | None, str]]:
    """Yields ``(node id, path)`` of every trigger node that has a path."""
    nodes = definition.get("nodes")
    for node in nodes if isinstance(nodes, list) else ():
        if not isinstance(node, Mapping) or node.get("type") != "trigger" or not isinstance(node.get("data"), Mapping):
            continue
        path, node_id = node["data"].get("trigger_path"), node.get("id")
        if isinstance(path, str) and path.strip():
            yield (node_id if isinstance(node_id, str) else None), path


def check_trigger_paths(definition: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    counts: Counter[str] = Counter()
    for node_id, path in trigger_paths(definition):
        counts[path] += 1
        if counts[path] == 2:
            message = "Trigger path is duplicated in this workflow."
            yield ValidationIssue("node", node_id, "data.trigger_path", "trigger_path_duplicate", message)


def check_tools(graph: WorkflowGraph, tools: Mapping[str, ToolFacts]) -> Iterator[ValidationIssue]:
    """Checks that function names differ within a node: among its tools, and between tools and edges."""
    for node in graph.nodes.values():
        taken = {edge.tool_name for edge in graph.edges_from(node.id)}
        for uuid in dict.fromkeys(node.tool_uuids):
            for name in _function_names(node, uuid, tools.get(uuid)):
                if name in taken:
                    message = f"The tool name “{name}” is already used at this node by an edge or another tool."
                    yield ValidationIssue("node", node.id, "data.tool_uuids", "tool_name_duplicate", message)
                taken.add(name)


def _function_names(node: Node, uuid: str, facts: ToolFacts | None) -> Sequence[str]:
    """Returns the function names of a tool that the model sees at this node."""
    if facts is None or facts.is_archived:
        return []
    return (
        [custom_tool_name(facts.name)]
        if facts.functions is None
        else facts.offered_functions(_get_mcp_filter(node, uuid))
    )


def _get_mcp_filter(node: Node, uuid: str) -> object:
    filters = node.data.get("mcp_tool_filters")
    return filters.get(uuid) if isinstance(filters, Mapping) else None


def tool_warnings(graph: WorkflowGraph, tools: Mapping[str, ToolFacts]) -> Iterator[ValidationIssue]:
    for node in graph.nodes.values():
        for uuid in dict.fromkeys(node.tool_uuids):
            facts = tools.get(uuid)
            if facts is None:
                message = f"Tool {uuid!r} does not exist. “{node.name}” continues without it."
                yield ValidationIssue("node", node.id, "data.tool_uuids", "tool_unknown", message)
                continue
            if facts.is_archived:
                message = f"The tool “{facts.name}” is archived. “{node.name}” continues without it."
                yield ValidationIssue("node", node.id, "data.tool_uuids", "tool_archived", message)
                continue
            if facts.functions is not None and not facts.offered_functions(_get_mcp_filter(node, uuid)):
                message = f"The tool “{facts.name}” offers no functions here: refresh its server's catalog, or check its filter."
                yield ValidationIssue("node", node.id, "data.tool_uuids", "tool_without_functions", message)
            if facts.is_transfer and not facts.has_fallback and not graph.edges_from(node.id):
                message = f"If the transfer “{facts.name}” fails, “{node.name}” has no transition to take."
                yield ValidationIssue("node", node.id, "data.tool_uuids", "transfer_without_fallback", message)
            if facts.timeout_s is None and not facts.is_transfer and not facts.ends_call:
                message = f"The tool “{facts.name}” has no timeout: callers could wait forever."
                yield ValidationIssue("node", node.id, "data.tool_uuids", "tool_without_timeout", message)


def variable_warnings(graph: WorkflowGraph, template_variables: Collection[str]) -> Iterator[ValidationIssue]:
    """Warns about variables without a default that only the API's caller could set."""
    for kind, id_, field, path in _iter_never_set(graph, template_variables):
        message = (
            f"Nothing in this workflow sets {{{{{path}}}}}: pass it with the call, or give it a default,"
            f" {{{{{path} | …}}}}."
        )
        yield ValidationIssue(kind, id_, f"data.{field}", "variable_never_set", message)


def needed_variables(definition: Mapping[str, Any], template_variables: Collection[str]) -> list[str]:
    """Returns, in order, the variables that a run's start must pass: texts use them and nothing else sets them."""
    found = _iter_never_set(parse_graph(definition), template_variables)
    return list(dict.fromkeys(path.split(".")[0] for _, _, _, path in found))


def _iter_never_set(
    graph: WorkflowGraph, template_variables: Collection[str]
) -> Iterator[tuple[Literal["node", "edge"], str, str, str]]:
    """Yields ``(kind, id, field, path)`` of each use."""
    known = set(template_variables) | RUN_VARIABLES
    for node in graph.nodes.values():
        known.update(str(variable["name"]) for variable in node.extraction_variables)
    for node in graph.nodes.values():
        for field in _SPOKEN_FIELDS:
            for path in _unset_variables(node.data.get(field), known):
                yield "node", node.id, field, path
    for group in graph.edges.values():
        for edge in group:
            for field, text in (("condition", edge.condition), ("transition_speech", edge.transition_speech)):
                for path in _unset_variables(text, known):
                    yield "edge", edge.id, field, path


def _unset_variables(text: object, known: Collection[str]) -> list[str]:
    if not isinstance(text, str):
        return []
    missing: dict[str, None] = {}
    for variable in find_variables(text):
        path = variable.path
        for prefix in ("initial_context.", "gathered_context.", "extracted_variables."):
            path = path.removeprefix(prefix)
        if variable.default is None and not variable.is_built_in and path.split(".")[0] not in known:
            missing[path] = None
    return list(missing)
