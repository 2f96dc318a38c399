"""Finds loops that turn without the caller, and steps that only edges lead to which are never taken."""

from collections.abc import Iterator, Mapping
from typing import Final

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.analysis.transitions import find_shadowed_edges, is_never_taken, is_unconditional
from offhook.workflows.graph import Node, WorkflowGraph
from offhook.workflows.nodes import KINDS

_SPOKEN_FIELDS: Final = ("say", "greeting", "offline_say")


def progress_findings(graph: WorkflowGraph) -> Iterator[GraphFinding]:
    yield from _find_idle_loops(graph)
    yield from _find_cut_off_steps(graph)


def asks_caller(node: Node) -> bool:
    """Returns True when a written sentence of the node asks something, so that it waits for an answer."""
    return any("?" in str(node.data.get(field) or "") for field in _SPOKEN_FIELDS)


def _find_idle_loops(graph: WorkflowGraph) -> Iterator[GraphFinding]:
    """A node that asks nothing and has an edge that is always taken is left at once; a ring of them never ends."""
    onward = {
        node.id: edge.target
        for node in graph.nodes.values()
        if not asks_caller(node) and (edge := next(filter(is_unconditional, graph.edges_from(node.id)), None))
    }
    done: set[str] = set()
    for start in onward:
        ring = _follow_ring(start, onward, done)
        if ring:
            names = " → ".join(f"“{graph.nodes[node_id].name}”" for node_id in (*ring, ring[0]))
            message = f"{names:.300} repeats without a word from the caller until the call is ended"
            yield GraphFinding("node", ring[0], None, "loop_without_progress", "error", message)


def _follow_ring(start: str, onward: Mapping[str, str], done: set[str]) -> list[str]:
    path: list[str] = []
    at: str | None = start
    while at is not None and at not in done:
        done.add(at)
        path.append(at)
        at = onward.get(at)
    return path[path.index(at) :] if at is not None and at in path else []


def _find_cut_off_steps(graph: WorkflowGraph) -> Iterator[GraphFinding]:
    if graph.start_id is None:
        return
    shadowed = find_shadowed_edges(graph)
    drawn = _reached_nodes(graph, set())
    taken = _reached_nodes(
        graph,
        {edge.id for group in graph.edges.values() for edge in group if edge.id in shadowed or is_never_taken(edge)},
    )
    for node_id in drawn:
        if node_id not in taken:
            node = graph.nodes[node_id]
            what = "This end of the call" if node.kind == "endCall" else f"“{node.name}”"
            code = "end_cut_off" if node.kind == "endCall" else "step_cut_off"
            message = f"{what} is never reached: every path to it has a transition that is never taken"
            yield GraphFinding("node", node_id, None, code, "error", message)


def _reached_nodes(graph: WorkflowGraph, without: set[str]) -> dict[str, None]:
    """Returns the conversational nodes that edges lead to from the start, in the order of a walk."""
    reached: dict[str, None] = {str(graph.start_id): None}
    waiting = [str(graph.start_id)]
    while waiting:
        for edge in graph.edges_from(waiting.pop()):
            node = graph.nodes[edge.target]
            is_step = node.kind in KINDS and KINDS[node.kind].is_conversational
            if is_step and edge.id not in without and edge.target not in reached:
                reached[edge.target] = None
                waiting.append(edge.target)
    return reached
