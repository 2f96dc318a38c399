"""What changed between two versions of a definition, texts that changed places, and prompts that were written over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

from offhook.kit.json_values import JsonObject

ChangeKind = Literal["added", "removed", "changed"]
# Layout and names do not change a call.
_SILENT_FIELDS: Final = frozenset({"name", "color", "notes"})
_TEXTS: Final = ("prompt", "say", "offline_say", "greeting", "condition", "transition_speech", "label")


@dataclass(frozen=True, slots=True)
class GraphChange:
    """One node or edge that differs; ``fields`` of what changed in it."""

    kind: Literal["node", "edge"]
    id: str
    change: ChangeKind
    fields: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        return {"kind": self.kind, "id": self.id, "change": self.change, "fields": list(self.fields)}


@dataclass(frozen=True, slots=True)
class SwappedTexts:
    """Two places whose texts are each other's of the version before."""

    kind: Literal["node", "edge"]
    field: str
    one: str
    other: str


def compare_graphs(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[GraphChange, ...]:
    """Returns what differs for a call, nodes first; positions, names and notes are left out."""
    return (*_compare_items("node", before, after), *_compare_items("edge", before, after))


def find_swapped_texts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[SwappedTexts]:
    """Yields pairs of nodes, or of edges, that have one another's texts now: more often a slip than a plan."""
    for kind in ("node", "edge"):
        old, new = _items(before, kind), _items(after, kind)
        for field in _TEXTS:
            moved = [
                item_id
                for item_id in old.keys() & new.keys()
                if _text(old[item_id], field) and _text(old[item_id], field) != _text(new[item_id], field)
            ]
            for one, other in combinations(sorted(moved), 2):
                is_swapped = _text(new[one], field) == _text(old[other], field)
                if is_swapped and _text(new[other], field) == _text(old[one], field):
                    yield SwappedTexts("node" if kind == "node" else "edge", field, one, other)


def find_copied_prompts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields (node, other node) where a node lost its own prompt for the one that the other had and has: scenarios with
    written sentences do not notice, and callers of a model do."""
    old, new = _items(before, "node"), _items(after, "node")
    kept = {
        text: node_id
        for node_id in reversed(list(old))
        if (text := _text(old[node_id], "prompt")) and text == _text(new.get(node_id, {}), "prompt")
    }
    for node_id in new:
        own, now = _text(old.get(node_id, {}), "prompt"), _text(new[node_id], "prompt")
        if own and now != own and now in kept:
            yield node_id, kept[now]


def _compare_items(
    kind: Literal["node", "edge"], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[GraphChange]:
    old, new = _items(before, kind), _items(after, kind)
    for item_id in dict.fromkeys((*old, *new)):
        if item_id not in new:
            yield GraphChange(kind, item_id, "removed")
        elif item_id not in old:
            yield GraphChange(kind, item_id, "added")
        else:
            one, other = _parts(old[item_id]), _parts(new[item_id])
            fields = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
            if fields:
                yield GraphChange(kind, item_id, "changed", tuple(fields))


def _items(definition: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    items = definition.get(f"{kind}s")
    return {
        str(item["id"]): item
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping) and item.get("id") is not None
    }


def _parts(item: Mapping[str, Any]) -> dict[str, Any]:
    data = item.get("data")
    data = data if isinstance(data, Mapping) else {}
    ends = {name: item[name] for name in ("type", "source", "target") if name in item}
    return {**ends, **{name: value for name, value in data.items() if name not in _SILENT_FIELDS}}


def _text(item: Mapping[str, Any], field: str) -> str:
    value = _parts(item).get(field)
    return value.strip() if isinstance(value, str) else ""
