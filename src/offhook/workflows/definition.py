"""Changes of a definition before it is stored and before it is shown. Pure."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.workflows.nodes import KINDS

MAX_BYTES: Final = 1024 * 1024
MAX_NODES: Final = 500
MAX_EDGES: Final = 2000
# Of all steps together, to tools and documents, which are looked up at once.
MAX_REFERENCES: Final = 5000
_REFERENCES: Final = ("tool_uuids", "document_refs", "document_uuids")
_VISIBLE_CHARS: Final = 4


class DefinitionRefused(ValueError):
    """A definition that cannot even be a draft; ``code`` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def check_storable(definition: Mapping[str, Any]) -> None:
    """Raises :class:`DefinitionRefused` unless it is ``{nodes: […], edges: […]}`` within the limits."""
    nodes, edges = definition.get("nodes"), definition.get("edges")
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise DefinitionRefused("definition_invalid", 'A definition must be an object {"nodes": [...], "edges": [...]}')
    if not all(isinstance(item, Mapping) for item in (*nodes, *edges)):
        raise DefinitionRefused("definition_invalid", "Every node and every edge of a definition must be an object")
    if len(nodes) > MAX_NODES:
        raise DefinitionRefused(
            "definition_too_large", f"Definitions are limited to {MAX_NODES} nodes; this one has {len(nodes)}"
        )
    if len(edges) > MAX_EDGES:
        raise DefinitionRefused(
            "definition_too_large", f"Definitions are limited to {MAX_EDGES} edges; this one has {len(edges)}"
        )
    lists = (data.get(key) for _, data in _nodes_with_data(definition) for key in _REFERENCES)
    references = sum(len(refs) for refs in lists if isinstance(refs, list))
    if references > MAX_REFERENCES:
        raise DefinitionRefused(
            "definition_too_large",
            f"Definitions are limited to {MAX_REFERENCES} references to tools and documents; this one has {references}",
        )
    if any(
        node.get("type") == "qa" and not _is_blank(data.get("qa_api_key"))
        for node, data in _nodes_with_data(definition)
    ):
        reason = (
            "Definitions cannot store an API key for QA. Put the key into the model configuration and omit qa_api_key"
        )
        raise DefinitionRefused("qa_api_key_refused", reason)
    check_size(definition)


def check_size(value: Any) -> None:
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise DefinitionRefused("definition_too_large", "JSON values are limited to 1 MB")


def complete_definition(definition: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> JsonObject:
    """Returns the definition as it is stored: fills blank trigger paths and replaces masks with their secrets.

    A trigger that had a path under the same node id in ``stored`` keeps it.
    """
    before = {node["id"]: data for node, data in _nodes_with_data(stored or {}) if isinstance(node.get("id"), str)}

    def complete_node(kind: str, node_id: Any, data: Mapping[str, Any]) -> JsonObject:
        old = before.get(node_id, {}) if isinstance(node_id, str) else {}
        changed = dict(data)
        for key in _secret_keys(kind):
            value, secret = data.get(key), old.get(key)
            if value and isinstance(secret, str) and value == mask_secret(secret):
                changed[key] = secret
        if kind == "trigger" and _is_blank(data.get("trigger_path")):
            path = old.get("trigger_path")
            changed["trigger_path"] = path if isinstance(path, str) and path.strip() else str(uuid.uuid4())
        return changed

    return _map_node_data(definition, complete_node)


def without_trigger_paths(definition: Mapping[str, Any]) -> JsonObject:
    """Returns the definition for a copy of its workflow, without trigger paths, which belong to one workflow."""

    def drop_trigger_path(kind: str, node_id: Any, data: Mapping[str, Any]) -> JsonObject:
        return {key: value for key, value in data.items() if kind != "trigger" or key != "trigger_path"}

    return _map_node_data(definition, drop_trigger_path)


def replace_references(definition: Mapping[str, Any], new_ids: Mapping[str, str]) -> JsonObject:
    """Returns the definition with recordings replaced: every ``…recording_id`` that is a key of ``new_ids``."""

    def replace_ids(data: Mapping[str, Any]) -> JsonObject:
        return {
            key: new_ids.get(str(value), value) if key.endswith("recording_id") and value is not None else value
            for key, value in data.items()
        }

    edges = definition.get("edges")
    with_nodes = _map_node_data(definition, lambda kind, node_id, data: replace_ids(data))
    if not isinstance(edges, list):
        return with_nodes
    return {
        **with_nodes,
        "edges": [
            {**edge, "data": replace_ids(edge["data"])}
            if isinstance(edge, Mapping) and isinstance(edge.get("data"), Mapping)
            else edge
            for edge in edges
        ],
    }


def mask_secrets(definition: Mapping[str, Any]) -> JsonObject:
    """Returns the definition for display: only the last four characters of secrets are visible."""

    def mask_node(kind: str, node_id: Any, data: Mapping[str, Any]) -> JsonObject:
        return {**data, **{key: mask_secret(data[key]) for key in _secret_keys(kind) if isinstance(data.get(key), str)}}

    return _map_node_data(definition, mask_node)


def mask_secret(secret: str) -> str:
    """Replaces all characters but the last four with ``*``; short secrets are hidden completely."""
    if len(secret) <= 2 * _VISIBLE_CHARS:
        return "*" * len(secret)
    return "*" * (len(secret) - _VISIBLE_CHARS) + secret[-_VISIBLE_CHARS:]


def _secret_keys(kind: str) -> tuple[str, ...]:
    return KINDS[kind].secrets if kind in KINDS else ()


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _nodes_with_data(definition: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    nodes = definition.get("nodes")
    for node in nodes if isinstance(nodes, list) else ():
        if isinstance(node, Mapping) and isinstance(node.get("data"), Mapping):
            yield node, node["data"]


def _map_node_data(definition: Mapping[str, Any], change: Any) -> JsonObject:
    """Returns a copy with changed data of nodes that have a type; nothing else is touched."""
    nodes = definition.get("nodes")
    if not isinstance(nodes, list):
        return dict(definition)
    changed = [
        {**node, "data": change(node["type"], node.get("id"), node["data"])}
        if isinstance(node, Mapping) and isinstance(node.get("data"), Mapping) and isinstance(node.get("type"), str)
        else node
        for node in nodes
    ]
    return {**definition, "nodes": changed}
