"""Checks the number of nodes of each kind and their connections. Needs a well-formed definition."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from offhook.workflows.graph import WorkflowGraph, tool_name
from offhook.workflows.nodes import KINDS
from offhook.workflows.nodes.spec import NodeKind
from offhook.workflows.validation.issues import ValidationIssue


def check_instances(nodes: list[Mapping[str, Any]]) -> Iterator[ValidationIssue]:
    counts = Counter(node["type"] for node in nodes)
    for kind in KINDS.values():
        limits, count = kind.instances, counts[kind.name]
        least, most = limits.min_instances or 0, limits.max_instances
        name = kind.spec.display_name
        if count < least:
            yield ValidationIssue(
                "workflow", None, "nodes", "too_few_nodes", f"Workflow must have at least {_count_word(least)} {name}."
            )
        elif most is not None and count > most:
            yield ValidationIssue(
                "workflow", None, "nodes", "too_many_nodes", f"Workflow can have at most {_count_word(most)} {name}."
            )


def kind_warnings(graph: WorkflowGraph) -> Iterator[ValidationIssue]:
    """Warns about node kinds of other platforms, which do nothing here."""
    for node in graph.nodes.values():
        if node.kind in KINDS and not KINDS[node.kind].is_offered:
            message = f"{KINDS[node.kind].spec.display_name} is not available here: this node does nothing."
            yield ValidationIssue("node", node.id, "type", "node_without_effect", message)


def check_degrees(nodes: list[Mapping[str, Any]], edges: list[Mapping[str, Any]]) -> Iterator[ValidationIssue]:
    pairs = {(edge["source"], edge["target"]) for edge in edges}  # parallel edges count once
    outgoing = Counter(source for source, _ in pairs)
    incoming = Counter(target for _, target in pairs)
    for node in nodes:
        limits, node_id, kind = KINDS[node["type"]].constraints, node["id"], KINDS[node["type"]]
        yield from _check_degree(kind, node_id, "incoming", incoming[node_id], limits.min_incoming, limits.max_incoming)
        yield from _check_degree(kind, node_id, "outgoing", outgoing[node_id], limits.min_outgoing, limits.max_outgoing)


def check_transitions(edges: list[Mapping[str, Any]]) -> Iterator[ValidationIssue]:
    """Checks that, within a node, the function names of edges differ, and so do their keys."""
    by_source: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for edge in edges:
        by_source[edge["source"]].append(edge)
    for siblings in by_source.values():
        names: set[str] = set()
        keys: set[str] = set()
        for edge in siblings:
            name, digits = tool_name(edge["data"]["label"]), edge["data"].get("digits")
            if name in names:
                message = f"Transition tool name “{name}” is duplicated at this node; give its edges different labels."
                yield ValidationIssue("edge", edge["id"], "data.label", "transition_duplicate", message)
            if digits and digits in keys:
                message = f"The digits {digits} already take another edge of this node."
                yield ValidationIssue("edge", edge["id"], "data.digits", "digits_duplicate", message)
            names.add(name)
            keys.add(digits or "")


def _check_degree(
    kind: NodeKind, node_id: str, side: str, count: int, least: int | None, most: int | None
) -> Iterator[ValidationIssue]:
    name = kind.spec.display_name
    if most is not None and count > most:
        rest = f"{side} edges" if most == 0 else f"more than {most} {side} edge{'s' if most > 1 else ''}"
        yield ValidationIssue("node", node_id, None, f"{side}_not_allowed", f"{name} cannot have {rest}.")
    elif least is not None and count < least:
        yield ValidationIssue(
            "node",
            node_id,
            None,
            f"{side}_required",
            f"{name} must have at least {least} {side} edge{'s' if least > 1 else ''}.",
        )


def _count_word(number: int) -> str:
    return "one" if number == 1 else str(number)
