"""Finds edges that can never be taken, that always win, or that no model can tell apart."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.graph import Edge, Node, WorkflowGraph

EdgeCondition = Literal["words", "key"]
_ALWAYS: Final = re.compile(
    r"^(always|true|default|next|continue|proceed|unconditional(ly)?|immediately|any ?way|done|go on)\W*$"
    r"|^(always|immediately|directly)\b",
    re.IGNORECASE,
)
_NEVER: Final = re.compile(r"^(never|false|disabled|not used|unused|do not (use|take)( this)?)\W*$", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")


def is_unconditional(edge: Edge) -> bool:
    """Returns True for an edge that is taken without an answer: its condition is "always", "next" or the like."""
    return _ALWAYS.search(edge.condition.strip()) is not None


def is_never_taken(edge: Edge) -> bool:
    """Returns True for an edge that neither words nor keys take."""
    return not edge.digits and _NEVER.search(edge.condition.strip()) is not None


def list_conditions(edge: Edge) -> tuple[EdgeCondition, ...]:
    """Returns what can take an edge: words, which a condition or examples describe, and its key."""
    has_words = bool(edge.condition or edge.examples or not edge.digits)
    return (*(("words",) if has_words else ()), *(("key",) if edge.digits else ()))


def find_taken_conditions(edges: Sequence[str], keyed_edges: Sequence[str]) -> set[tuple[str, EdgeCondition]]:
    """Returns which edges a conversation took with words, and which with a key. ``edges`` are all that it took by id,
    and ``keyed_edges`` those that a key took, each as often as it was taken."""
    pressed = Counter(keyed_edges)
    taken: set[tuple[str, EdgeCondition]] = {(edge, "key") for edge in pressed}
    return taken | {(edge, "words") for edge, times in Counter(edges).items() if times > pressed[edge]}


def find_shadowed_edges(graph: WorkflowGraph) -> dict[str, Edge]:
    """Returns, by the id of an edge that can never be taken, the edge of the same node that always wins over it.

    Keys take their edge whatever the model decides, so an edge with digits is never shadowed.
    """
    shadowed: dict[str, Edge] = {}
    for node_id in graph.nodes:
        edges = graph.edges_from(node_id)
        winner = next((edge for edge in edges if is_unconditional(edge)), None)
        if winner is not None:
            shadowed |= {edge.id: winner for edge in edges if edge is not winner and not edge.digits}
    return shadowed


def transition_findings(graph: WorkflowGraph) -> Iterator[GraphFinding]:
    shadowed = find_shadowed_edges(graph)
    for node in graph.nodes.values():
        edges = graph.edges_from(node.id)
        for edge in edges:
            if is_never_taken(edge):
                message = f"The condition of “{edge.label}” never holds, and no key takes it"
                yield _edge_finding(edge, "condition", "edge_never_taken", message, is_error=True)
            elif edge.id in shadowed:
                message = f"“{edge.label}” can never be taken: “{shadowed[edge.id].label}” is always taken first"
                yield _edge_finding(edge, "condition", "edge_never_taken", message, is_error=True)
            if edge.target == edge.source and not (edge.transition_speech or edge.is_transition_recorded):
                message = f"“{edge.label}” leads back to its own step and says nothing, so the caller hears no answer"
                yield _edge_finding(edge, None, "edge_to_itself", message)
        winner = next((edge for edge in edges if is_unconditional(edge)), None)
        if winner is not None and any(edge.condition for edge in edges if edge is not winner):
            message = f"“{winner.label}” is always taken at “{node.name}”, so nothing leads to its other transitions"
            yield _edge_finding(winner, "condition", "edge_always_wins", message)
        yield from _indistinct_edges(node, [edge for edge in edges if edge.id not in shadowed])


def _indistinct_edges(node: Node, edges: Sequence[Edge]) -> Iterator[GraphFinding]:
    by_condition: dict[str, Edge] = {}
    by_phrase: dict[str, Edge] = {}
    for edge in edges:
        condition = _plain(edge.condition)
        first = by_condition.setdefault(condition, edge) if condition else edge
        if first is not edge:
            message = (
                f"“{first.label}” and “{edge.label}” have the same condition, so chance decides which one is taken"
            )
            yield _edge_finding(edge, "condition", "edges_indistinct", message)
        for phrase in edge.examples:
            first = by_phrase.setdefault(_plain(phrase), edge)
            if first is not edge:
                message = (
                    f"The example “{phrase:.80}” is listed for both “{first.label}” and “{edge.label}” at “{node.name}”"
                )
                yield _edge_finding(edge, "examples", "phrase_at_two_edges", message)
                break


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _edge_finding(edge: Edge, field: str | None, code: str, message: str, *, is_error: bool = False) -> GraphFinding:
    where = f"data.{field}" if field is not None else None
    return GraphFinding("edge", edge.id, where, code, "error" if is_error else "warning", message)
