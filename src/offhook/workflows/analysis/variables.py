"""Finds variables that a text uses before they are known on every path to it."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Final, Literal

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.graph import Node, WorkflowGraph
from offhook.workflows.template import find_variables
from offhook.workflows.validation.references import RUN_VARIABLES

# Every finding names a path, which is a search of its own.
MAX_FINDINGS: Final = 100
_NODE_FIELDS: Final = ("prompt", "say", "offline_say", "greeting")
_PREFIXES: Final = ("gathered_context.", "extracted_variables.")


def variable_findings(graph: WorkflowGraph, template_variables: Collection[str]) -> Iterator[GraphFinding]:
    """Yields a finding for each use, at most 100. Variables that nothing in the graph sets are the validation's."""
    return islice(_iter_early_uses(graph, template_variables), MAX_FINDINGS)


def _iter_early_uses(graph: WorkflowGraph, template_variables: Collection[str]) -> Iterator[GraphFinding]:
    if graph.start_id is None:
        return
    given = RUN_VARIABLES | set(template_variables)
    sources: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        for name in _extracted_names(node):
            sources.setdefault(name, []).append(node.name)
    known = _known_at_entry(graph)
    for kind, id_, field, node_id, name in _iter_uses(graph):
        if node_id not in known or name in given or name not in sources or name in known[node_id]:
            continue
        path = " → ".join(f"“{graph.nodes[step].name}”" for step in _path_without(graph, node_id, name))
        message = f"{{{{{name}}}}} is not known yet on the path {path:.200}: only “{sources[name][0]}” asks for it"
        yield GraphFinding(kind, id_, f"data.{field}", "variable_used_too_early", "warning", message)


def _iter_uses(graph: WorkflowGraph) -> Iterator[tuple[Literal["node", "edge"], str, str, str, str]]:
    """Yields (kind, id, field, node where it is used, name) of each variable without a default."""
    for node in graph.nodes.values():
        for field in _NODE_FIELDS:
            for name in _used_names(node.data.get(field)):
                yield "node", node.id, field, node.id, name
        for edge in graph.edges_from(node.id):
            for field, text in (("condition", edge.condition), ("transition_speech", edge.transition_speech)):
                for name in _used_names(text):
                    yield "edge", edge.id, field, node.id, name


def _used_names(text: object) -> list[str]:
    if not isinstance(text, str) or "{{" not in text:
        return []
    names: dict[str, None] = {}
    for variable in find_variables(text):
        path = variable.path
        for prefix in _PREFIXES:
            path = path.removeprefix(prefix)
        if variable.default is None and not variable.is_built_in and not path.startswith("initial_context."):
            names[path.split(".")[0]] = None
    return list(names)


def _extracted_names(node: Node) -> list[str]:
    if not node.extraction_enabled:
        return []
    return [str(variable["name"]) for variable in node.extraction_variables]


def _known_at_entry(graph: WorkflowGraph) -> Mapping[str, frozenset[str]]:
    """Returns, by node, the variables that were asked for on every path to it from the start."""
    start = str(graph.start_id)
    known: dict[str, frozenset[str]] = {start: frozenset()}
    waiting = deque([start])
    while waiting:
        node_id = waiting.popleft()
        leaving = known[node_id].union(_extracted_names(graph.nodes[node_id]))
        for edge in graph.edges_from(node_id):
            before = known.get(edge.target)
            after = leaving if before is None else before & leaving
            if after != before:
                known[edge.target] = after
                waiting.append(edge.target)
    return known


def _path_without(graph: WorkflowGraph, target: str, name: str) -> list[str]:
    """Returns the shortest path from the start to a node on which no step asks for the variable."""
    start = str(graph.start_id)
    came_from: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while waiting and target not in came_from:
        node_id = waiting.popleft()
        if name in _extracted_names(graph.nodes[node_id]):
            continue
        for edge in graph.edges_from(node_id):
            if edge.target not in came_from:
                came_from[edge.target] = node_id
                waiting.append(edge.target)
    path: list[str] = []
    at: str | None = target if target in came_from else None
    while at is not None:
        path.append(at)
        at = came_from[at]
    return path[::-1] or [target]
