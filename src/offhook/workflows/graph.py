"""The graph of an agent as the interpreter sees it. Pure: no I/O, no framework, no database."""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

# The longest function name that every LLM vendor accepts.
MAX_TOOL_NAME: Final = 64
# A kind's default: a greeting cannot be interrupted, the rest can.
INTERRUPTIBLE_BY_DEFAULT: Final = {"startCall": False}


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition. ``tool_name`` is the function that the model calls to take it; ``digits`` makes it a DTMF edge.

    ``transition_recording`` plays during the transition; its text replaces a deleted recording. ``is_final``: it leads
    to an end node.
    """

    id: str
    source: str
    target: str
    label: str
    condition: str
    tool_name: str
    transition_speech: str | None = None
    is_transition_recorded: bool = False
    transition_recording: str | None = None
    digits: str | None = None
    examples: tuple[str, ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """One node with the fields that every kind shares; ``data`` is the stored object, unknown keys included.

    ``say_recording`` and ``greeting_recording`` replace the texts beside them, which are spoken when a recording is
    deleted.
    """

    id: str
    kind: str
    name: str
    data: Mapping[str, Any]
    prompt: str = ""
    say: str | None = None
    say_recording: str | None = None
    greeting: str | None = None
    greeting_recording: str | None = None
    allow_interrupt: bool = True
    add_global_prompt: bool = True
    extraction_enabled: bool = False
    extraction_prompt: str = ""
    extraction_variables: tuple[Mapping[str, Any], ...] = ()
    examples: tuple[str, ...] = ()
    tool_uuids: tuple[str, ...] = ()
    document_refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowGraph:
    """Nodes by id and outgoing edges by source id, in stored order. ``start_id`` is None in an unfinished draft."""

    nodes: Mapping[str, Node]
    edges: Mapping[str, tuple[Edge, ...]]
    start_id: str | None
    global_prompt: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def edges_from(self, node_id: str) -> tuple[Edge, ...]:
        return self.edges.get(node_id, ())


def tool_name(label: str) -> str:
    """Returns the function name of an edge: lower case, every character outside ``[a-z0-9]`` becomes ``_``.

    A label without such characters (another script) gets a name from its checksum, so that two labels differ.
    """
    name = re.sub(r"[^a-z0-9]", "_", label.lower())[:MAX_TOOL_NAME]
    if name.strip("_"):
        return name
    return f"transition_{zlib.crc32(label.encode('utf-8', 'surrogatepass')):08x}"


def parse_graph(definition: Mapping[str, Any]) -> WorkflowGraph:
    """Reads a stored definition, finished or not. Never raises: skips invalid nodes and edges.

    Skips edges with a missing end too, and makes function names unique within a node, because a test call can use a
    draft that would not pass validation.
    """
    nodes: dict[str, Node] = {}
    for raw in _list_objects(_get_key(definition, "nodes")):
        node = _parse_node(raw)
        if node is not None:
            nodes.setdefault(node.id, node)
    edges: dict[str, list[Edge]] = {}
    names: dict[str, dict[str, int]] = {}
    for raw in _list_objects(_get_key(definition, "edges")):
        source, target = _parse_id(raw.get("source")), _parse_id(raw.get("target"))
        if source in nodes and target in nodes:
            edge = _parse_edge(raw, source, target, taken=names.setdefault(source, {}))
            edges.setdefault(source, []).append(replace(edge, is_final=nodes[target].kind == "endCall"))
    return WorkflowGraph(
        nodes=nodes,
        edges={source: tuple(group) for source, group in edges.items()},
        start_id=next((node.id for node in nodes.values() if node.kind == "startCall"), None),
        global_prompt=next((node.prompt for node in nodes.values() if node.kind == "globalNode"), ""),
        extra={key: value for key, value in definition.items() if key not in {"nodes", "edges"}}
        if isinstance(definition, Mapping)
        else {},
    )


def non_blank_strings(value: object) -> tuple[str, ...]:
    """Returns the non-blank strings of a list, stripped; a single string counts as one item per line."""
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())


def _parse_node(raw: Mapping[str, Any]) -> Node | None:
    node_id, kind = _parse_id(raw.get("id")), raw.get("type")
    if not node_id or not isinstance(kind, str):
        return None
    data = raw.get("data")
    data = data if isinstance(data, Mapping) else {}
    return Node(
        id=node_id,
        kind=kind,
        name=_non_blank(data.get("name")) or node_id,
        data=data,
        prompt=_non_blank(data.get("prompt")) or "",
        say=_non_blank(data.get("say")),
        say_recording=_recording_id(data, "say_type", "say_recording_id"),
        greeting=_non_blank(data.get("greeting")),
        greeting_recording=_recording_id(data, "greeting_type", "greeting_recording_id"),
        allow_interrupt=_parse_flag(data.get("allow_interrupt"), INTERRUPTIBLE_BY_DEFAULT.get(kind, True)),
        add_global_prompt=_parse_flag(data.get("add_global_prompt"), True),
        extraction_enabled=_parse_flag(data.get("extraction_enabled"), False),
        extraction_prompt=_non_blank(data.get("extraction_prompt")) or "",
        extraction_variables=tuple(
            variable for variable in _list_objects(data.get("extraction_variables")) if _non_blank(variable.get("name"))
        ),
        examples=non_blank_strings(data.get("examples")),
        tool_uuids=non_blank_strings(data.get("tool_uuids")),
        document_refs=tuple(
            dict.fromkeys(
                (*_parse_document_refs(data.get("document_refs")), *_parse_document_refs(data.get("document_uuids")))
            )
        ),
    )


def _parse_edge(raw: Mapping[str, Any], source: str, target: str, *, taken: dict[str, int]) -> Edge:
    data = raw.get("data")
    data = data if isinstance(data, Mapping) else {}
    label = _non_blank(data.get("label")) or ""
    return Edge(
        id=_parse_id(raw.get("id")) or f"{source}-{target}",
        source=source,
        target=target,
        label=label,
        condition=_non_blank(data.get("condition")) or "",
        tool_name=_unique_name(tool_name(label), taken),
        transition_speech=_non_blank(data.get("transition_speech")),
        is_transition_recorded=data.get("transition_speech_type") == "audio",
        transition_recording=_recording_id(data, "transition_speech_type", "transition_speech_recording_id"),
        digits=_non_blank(_parse_id(data.get("digits"))),
        examples=non_blank_strings(data.get("examples")),
    )


def _unique_name(name: str, taken: dict[str, int]) -> str:
    """Returns the name, or the name with the first free number. ``taken`` counts the requests for each name."""
    candidate = name
    while candidate in taken:
        taken[name] += 1
        suffix = f"_{taken[name]}"
        candidate = name[: MAX_TOOL_NAME - len(suffix)] + suffix
    taken[candidate] = 1
    return candidate


def _get_key(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _list_objects(value: object) -> Iterable[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _parse_id(value: object) -> str:
    """Returns an id as a string; a number, which some editors write, becomes its digits."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18
    return str(value) if is_number else ""


def _non_blank(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _recording_id(data: Mapping[str, Any], kind: str, key: str) -> str | None:
    value = _non_blank(data.get(key)) if data.get(kind) == "audio" else None
    return value.strip() if value is not None else None


def _parse_flag(value: object, default: bool) -> bool:
    return value if isinstance(value, bool) else default


def _parse_document_refs(value: object) -> tuple[str, ...]:
    """Returns document ids: strings, or the integers that Dograh's document list shows."""
    items = value if isinstance(value, list | tuple) else ()
    return non_blank_strings([item if isinstance(item, str) else _parse_id(item) for item in items])
