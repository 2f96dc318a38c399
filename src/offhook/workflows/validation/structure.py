"""Checks that every node and every edge is well formed and that edges join existing nodes."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from offhook.kit.json_values import is_blank
from offhook.workflows.nodes import KINDS
from offhook.workflows.nodes.fields import check_data
from offhook.workflows.validation.issues import IssueKind, ValidationIssue


def check_structure(definition: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    for key in ("nodes", "edges"):
        value = definition.get(key)
        if not isinstance(value, list):
            code = "field_required" if value is None else "field_invalid"
            yield ValidationIssue(
                "workflow", None, key, code, "Field required." if value is None else "Input should be a list."
            )
    nodes = as_list(definition.get("nodes"))
    seen: set[str] = set()
    for index, node in enumerate(nodes):
        yield from _check_node(node, index)
        node_id = get_item_id(node)
        if node_id in seen:
            yield ValidationIssue("node", node_id, "id", "node_id_duplicate", f"Node id {node_id!r} is used twice.")
        if node_id is not None:
            seen.add(node_id)
    for index, edge in enumerate(as_list(definition.get("edges"))):
        yield from _check_edge(edge, index, seen)


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def get_item_id(item: object) -> str | None:
    value = item.get("id") if isinstance(item, Mapping) else None
    return value if isinstance(value, str) and value else None


def _check_node(node: Any, index: int) -> Iterator[ValidationIssue]:
    if not isinstance(node, Mapping):
        yield ValidationIssue("node", None, f"nodes.{index}", "field_invalid", "Input should be an object.")
        return
    node_id = get_item_id(node)
    yield from _check_text("node", node_id, node, "id")
    yield from _check_position(node, node_id)
    kind_name, data = node.get("type"), node.get("data")
    kind = KINDS.get(kind_name) if isinstance(kind_name, str) else None
    if kind_name is None:
        yield ValidationIssue("node", node_id, "type", "field_required", "Field required.")
    elif kind is None:
        yield ValidationIssue("node", node_id, "type", "node_type_unknown", f"Unknown node type: {kind_name!r:.60}.")
    if data is None:
        yield ValidationIssue("node", node_id, "data", "field_required", "Field required.")
    elif not isinstance(data, Mapping):
        yield ValidationIssue("node", node_id, "data", "field_invalid", "Input should be an object.")
    elif kind is not None:
        for problem in check_data(kind, data):
            yield ValidationIssue("node", node_id, problem.field, problem.code, problem.message)


def _check_position(node: Mapping[str, Any], node_id: str | None) -> Iterator[ValidationIssue]:
    position = node.get("position")
    if position is None:
        yield ValidationIssue("node", node_id, "position", "field_required", "Field required.")
        return
    if not isinstance(position, Mapping):
        yield ValidationIssue("node", node_id, "position", "field_invalid", "Input should be an object.")
        return
    for axis in ("x", "y"):
        value = position.get(axis)
        if value is None:
            yield ValidationIssue("node", node_id, f"position.{axis}", "field_required", "Field required.")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
            yield ValidationIssue(
                "node", node_id, f"position.{axis}", "field_invalid", "Input should be a valid number."
            )


def _check_edge(edge: Any, index: int, node_ids: set[str]) -> Iterator[ValidationIssue]:
    if not isinstance(edge, Mapping):
        yield ValidationIssue("edge", None, f"edges.{index}", "field_invalid", "Input should be an object.")
        return
    edge_id = get_item_id(edge)
    yield from _check_text("edge", edge_id, edge, "id")
    for end in ("source", "target"):
        problems = list(_check_text("edge", edge_id, edge, end))
        yield from problems
        if not problems and edge[end] not in node_ids:
            yield ValidationIssue(
                "edge", edge_id, end, "edge_dangling", f"Edge references missing node {edge[end]!r:.60}."
            )
    data = edge.get("data")
    if data is None:
        yield ValidationIssue("edge", edge_id, "data", "field_required", "Field required.")
    elif not isinstance(data, Mapping):
        yield ValidationIssue("edge", edge_id, "data", "field_invalid", "Input should be an object.")
    else:
        yield from _check_edge_data(edge_id, data)


def _check_edge_data(edge_id: str | None, data: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    yield from _check_text("edge", edge_id, data, "label", prefix="data.")
    digits = data.get("digits")
    has_digits = isinstance(digits, str) and bool(digits)
    # an edge taken by a key press needs no condition for a model
    condition = data.get("condition")
    has_condition = condition is not None and not (isinstance(condition, str) and is_blank(condition))
    if has_condition or not has_digits:
        yield from _check_text("edge", edge_id, data, "condition", prefix="data.")
    if digits is not None and not (isinstance(digits, str) and re.fullmatch(r"[0-9*#]{0,20}", digits)):
        yield ValidationIssue("edge", edge_id, "data.digits", "digits_invalid", "Digits are up to 20 of 0-9, * and #.")
    for key in ("transition_speech", "transition_speech_recording_id"):
        if data.get(key) is not None and not isinstance(data[key], str):
            yield ValidationIssue("edge", edge_id, f"data.{key}", "field_invalid", "Input should be a valid string.")
    if data.get("transition_speech_type") not in (None, "text", "audio"):
        yield ValidationIssue(
            "edge", edge_id, "data.transition_speech_type", "field_invalid", "Input should be one of: text, audio."
        )
    phrases = data.get("examples")
    if phrases is not None and not (isinstance(phrases, list) and all(isinstance(item, str) for item in phrases)):
        yield ValidationIssue(
            "edge", edge_id, "data.examples", "field_invalid", "Example phrases are a list of strings."
        )


def _check_text(
    kind: IssueKind, item_id: str | None, holder: Mapping[str, Any], key: str, *, prefix: str = ""
) -> Iterator[ValidationIssue]:
    """Requires a non-blank string."""
    value = holder.get(key)
    if value is None or (isinstance(value, str) and is_blank(value)):
        yield ValidationIssue(kind, item_id, prefix + key, "field_required", "Field required.")
    elif not isinstance(value, str):
        yield ValidationIssue(kind, item_id, prefix + key, "field_invalid", "Input should be a valid string.")
