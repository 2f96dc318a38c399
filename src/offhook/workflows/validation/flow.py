"""Warns about the flow of a conversation: unreachable steps, dead ends, loops without an exit."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from offhook.workflows.graph import Node, WorkflowGraph
from offhook.workflows.nodes import KINDS
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation.issues import ValidationIssue


def flow_warnings(graph: WorkflowGraph, tools: Mapping[str, ToolFacts]) -> Iterator[ValidationIssue]:
    steps = [node for node in graph.nodes.values() if node.kind in KINDS and KINDS[node.kind].is_conversational]
    forward = {node.id: [edge.target for edge in graph.edges_from(node.id)] for node in steps}
    backward: dict[str, list[str]] = {node.id: [] for node in steps}
    for source, targets in forward.items():
        for target in targets:
            backward.get(target, []).append(source)
    if graph.start_id is not None:
        reached = _reachable_from([graph.start_id], forward)
        for node in steps:
            if node.id not in reached:
                yield _node_warning(node, "node_unreachable", f"“{node.name}” is never reached from the Start Call.")
    ending = _reachable_from([node.id for node in steps if _ends_call(node, tools)], backward)
    stuck = {node.id for node in steps if node.id not in ending}
    looping: set[str] = set()
    for component in _strong_components(stuck, forward):
        is_loop = len(component) > 1 or any(member in forward[member] for member in component)
        is_closed = all(target in component for member in component for target in forward[member])
        if is_loop and is_closed:
            looping.update(component)
            first = next(node for node in steps if node.id in component)
            names = ", ".join(f"“{graph.nodes[member].name}”" for member in forward if member in component)
            yield _node_warning(
                first, "loop_without_exit", f"A conversation that reaches {names:.200} can never leave."
            )
    for node in steps:
        if node.id in stuck - looping:
            yield _node_warning(
                node,
                "node_without_end",
                f"No path from “{node.name}” leads to an End Call, so the agent cannot end the call there.",
            )


def _ends_call(node: Node, tools: Mapping[str, ToolFacts]) -> bool:
    return node.kind == "endCall" or any(
        facts.ends_call or facts.is_transfer
        for uuid in node.tool_uuids
        if (facts := tools.get(uuid)) and not facts.is_archived
    )


def _node_warning(node: Node, code: str, message: str) -> ValidationIssue:
    return ValidationIssue("node", node.id, None, code, message)


def _reachable_from(roots: Iterable[str], neighbors: Mapping[str, Collection[str]]) -> set[str]:
    reached = {root for root in roots if root in neighbors}
    waiting = list(reached)
    while waiting:
        for node_id in neighbors[waiting.pop()]:
            if node_id in neighbors and node_id not in reached:
                reached.add(node_id)
                waiting.append(node_id)
    return reached


def _strong_components(members: set[str], forward: Mapping[str, list[str]]) -> Iterator[set[str]]:
    """Yields strongly connected components among ``members`` (Kosaraju, not recursive: graphs may be long chains)."""
    inside = {node_id: [target for target in forward[node_id] if target in members] for node_id in forward}
    inside = {node_id: targets for node_id, targets in inside.items() if node_id in members}
    reverse: dict[str, list[str]] = {node_id: [] for node_id in inside}
    for source, targets in inside.items():
        for target in targets:
            reverse[target].append(source)
    done: set[str] = set()
    for node_id in reversed(_finishing_order(inside)):
        if node_id in done:
            continue
        component = _reachable_from([node_id], {key: reverse[key] for key in reverse if key not in done})
        done.update(component)
        yield component


def _finishing_order(neighbors: Mapping[str, list[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in neighbors:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(neighbors[root]))]
        while stack:
            node_id, rest = stack[-1]
            following = next((item for item in rest if item not in seen), None)
            if following is None:
                order.append(node_id)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(neighbors[following])))
    return order
