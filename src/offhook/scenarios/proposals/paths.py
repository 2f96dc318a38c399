"""Chooses paths through a graph that take every edge: from the start to the edge, and on to an end. Pure."""

from collections import deque
from collections.abc import Iterator, Sequence

from offhook.workflows.graph import Edge, WorkflowGraph

Path = Sequence[Edge]


def iter_paths(graph: WorkflowGraph) -> Iterator[Path]:
    """Yields one path for each edge that can be reached, nearest edges first; its last part leads to an end."""
    if graph.start_id is None:
        return
    ways = _ways_from(graph, graph.start_id)
    for node_id, way in ways.items():
        for edge in graph.edges_from(node_id):
            yield (*way, edge, *_way_to_end(graph, edge.target))


def _ways_from(graph: WorkflowGraph, start: str) -> dict[str, tuple[Edge, ...]]:
    """Returns the shortest way to every node that can be reached, in the order of their lengths."""
    ways: dict[str, tuple[Edge, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        node_id = waiting.popleft()
        for edge in graph.edges_from(node_id):
            if edge.target not in ways:
                ways[edge.target] = (*ways[node_id], edge)
                waiting.append(edge.target)
    return ways


def _way_to_end(graph: WorkflowGraph, start: str) -> tuple[Edge, ...]:
    ways = _ways_from(graph, start)
    return next((way for node_id, way in ways.items() if graph.nodes[node_id].kind == "endCall"), ())
