"""The graph of an agent as the interpreter sees it. Pure: no I/O, no framework, no database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition. ``tool_name`` is the function that the model calls to take it; ``digits`` makes it a DTMF edge."""

    id: str
    source: str
    target: str
    label: str
    condition: str
    tool_name: str
    transition_speech: str | None = None
    digits: str | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One node with the fields that every kind shares; ``data`` is the stored object, unknown keys included."""

    id: str
    kind: str
    name: str
    data: Mapping[str, Any]
    prompt: str = ""
    say: str | None = None
    greeting: str | None = None
    allow_interrupt: bool = True
    add_global_prompt: bool = True
    extraction_enabled: bool = False
    extraction_prompt: str = ""
    extraction_variables: tuple[Mapping[str, Any], ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by id and outgoing edges by source id, in stored order. ``start_id`` is None in an unfinished draft."""

    nodes: Mapping[str, Node]
    edges: Mapping[str, tuple[Edge, ...]]
    start_id: str | None
    global_prompt: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def outgoing(self, node_id: str) -> tuple[Edge, ...]:
        return self.edges.get(node_id, ())
