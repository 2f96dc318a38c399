"""What a definition names outside of itself: tools, documents, credentials. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import JsonObject

_TOOLS: Final = "tool_uuids"
_DOCUMENTS: Final = ("document_refs", "document_uuids")
# The field that names a credential, and the field with the address that it is sent to.
_CREDENTIALS: Final = (("credential_uuid", "endpoint_url"), ("pre_call_fetch_credential_uuid", "pre_call_fetch_url"))


@dataclass(slots=True)
class References:
    """Ids in the order in which a definition names them; ``credentials``: each with the addresses that it is sent to."""

    tools: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    credentials: dict[str, list[str]] = field(default_factory=dict)


def references_of(definition: Mapping[str, Any]) -> References:
    found = References()
    tools: dict[str, None] = {}
    documents: dict[str, None] = {}
    for data in _iter_data(definition):
        tools.update(dict.fromkeys(_refs(data.get(_TOOLS))))
        for key in _DOCUMENTS:
            documents.update(dict.fromkeys(_refs(data.get(key))))
        for key, address in _CREDENTIALS:
            if isinstance(ref := data.get(key), str) and ref.strip():
                found.credentials.setdefault(ref, []).append(str(data.get(address) or ""))
    found.tools, found.documents = list(tools), list(documents)
    return found


def replace_references(
    definition: Mapping[str, Any],
    *,
    tools: Mapping[str, str],
    documents: Mapping[str, str],
    find_credential: Callable[[str, str], str | None],
) -> JsonObject:
    """Returns the definition with other ids; what has none is no longer named. ``find_credential`` gets the id and the
    address that the credential is sent to."""

    def replace(data: Mapping[str, Any]) -> JsonObject:
        changed = dict(data)
        for key, ids in ((_TOOLS, tools), *((key, documents) for key in _DOCUMENTS)):
            if isinstance(data.get(key), list):
                changed[key] = [ids[ref] for ref in _refs(data[key]) if ref in ids]
        for key, address in _CREDENTIALS:
            if isinstance(ref := data.get(key), str) and ref.strip():
                changed.pop(key)
                if (new := find_credential(ref, str(data.get(address) or ""))) is not None:
                    changed[key] = new
        return changed

    nodes = definition.get("nodes")
    if not isinstance(nodes, list):
        return dict(definition)
    changed_nodes = [
        {**node, "data": replace(node["data"])}
        if isinstance(node, Mapping) and isinstance(node.get("data"), Mapping)
        else node
        for node in nodes
    ]
    return {**definition, "nodes": changed_nodes}


def replace_in_scenarios(
    scenarios: Sequence[Any], *, tools: Mapping[str, str], documents: Mapping[str, str]
) -> list[JsonObject]:
    """Returns scenarios whose answers of tools and texts of documents stand under other ids; other names stay."""
    changed = []
    for scenario in scenarios:
        renamed = dict(scenario)
        for key, ids in (("tools", tools), ("documents", documents)):
            if isinstance(named := scenario.get(key), Mapping):
                renamed[key] = {ids.get(str(ref), str(ref)): value for ref, value in named.items()}
        changed.append(renamed)
    return changed


def _iter_data(definition: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    nodes = definition.get("nodes")
    for node in nodes if isinstance(nodes, list) else ():
        if isinstance(node, Mapping) and isinstance(node.get("data"), Mapping):
            yield node["data"]


def _refs(value: object) -> list[str]:
    """Ids are texts, or the integers of Dograh's document list."""
    items = value if isinstance(value, list) else []
    return [
        str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool) and str(item).strip()
    ]
