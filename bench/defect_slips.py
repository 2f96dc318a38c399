"""The slips that people make in graphs: each changes a definition in place and says what it did.

A slip returns None where a definition has no place for it, or where it would change nothing.
"""

import copy
import random
import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

Definition = dict[str, Any]
Slip = Callable[[Definition, random.Random], str | None]
_SPOKEN: Final = ("say", "offline_say", "greeting")
_STEPS: Final = ("startCall", "agentNode", "endCall")
_SLOT: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_DEFAULT: Final = re.compile(r"\{\{\s*\w+\s*\|\s*([^{}]*?)\s*\}\}")
_OTHER_DEFAULTS: Final = ("unknown", "my friend", "as agreed", "next year", "N/A", "the caller")
# The first that is found: what is negated loses it.
_REVERSALS: Final = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\bdoes not (\w+)\b", r"\1s"),
        (r"\b(is|has|can|was) not\b", r"\1"),
        (r"\bsays yes\b", "says no"),
        (r"\bsays no\b", "says yes"),
        (r"\b(is|can|was)\b", r"\1 not"),
        (r"\b(wants|asks|agrees|says|names|confirms|accepts|needs)\b", lambda found: f"does not {found[0][:-1]}"),
    )
)
_OTHER_TYPES: Final = {"string": "boolean", "number": "boolean", "boolean": "number"}


def _wrong_edge(raw: Definition, chance: random.Random) -> str | None:
    edge = _pick(raw["edges"], chance)
    others = [node["id"] for node in raw["nodes"] if node["type"] in ("agentNode", "endCall")]
    others = [node_id for node_id in others if edge is not None and node_id not in (edge["target"], edge["source"])]
    if edge is None or not others:
        return None
    edge["target"] = chance.choice(others)
    return f"{edge['id']} leads to {edge['target']}"


def _swapped_targets(raw: Definition, chance: random.Random) -> str | None:
    found = _sibling_pair(raw, chance, lambda one, other: one["target"] != other["target"])
    if found is None:
        return None
    one, other = found
    one["target"], other["target"] = other["target"], one["target"]
    return f"{one['id']} and {other['id']}"


def _lost_edge(raw: Definition, chance: random.Random) -> str | None:
    edge = _pick(raw["edges"], chance)
    if edge is None:
        return None
    raw["edges"].remove(edge)
    return str(edge["id"])


def _lost_variable(raw: Definition, chance: random.Random) -> str | None:
    node = _pick([node for node in raw["nodes"] if node["data"].get("extraction_variables")], chance)
    if node is None:
        return None
    variable = chance.choice(node["data"]["extraction_variables"])
    node["data"]["extraction_variables"].remove(variable)
    return f"{variable['name']} of {node['id']}"


def _renamed_variable(raw: Definition, chance: random.Random) -> str | None:
    node = _pick([node for node in raw["nodes"] if node["data"].get("extraction_variables")], chance)
    if node is None:
        return None
    variable = chance.choice(node["data"]["extraction_variables"])
    old = variable["name"]
    variable["name"] = f"{old}_{chance.randint(2, 9)}"
    return f"{old} of {node['id']} is {variable['name']}"


def _dropped_tool(raw: Definition, chance: random.Random) -> str | None:
    node = _pick([node for node in raw["nodes"] if node["data"].get("tool_uuids")], chance)
    if node is None:
        return None
    tool = chance.choice(node["data"]["tool_uuids"])
    node["data"]["tool_uuids"].remove(tool)
    return f"{tool} of {node['id']}"


def _swapped_prompt(raw: Definition, chance: random.Random) -> str | None:
    return _swap_texts([node for node in raw["nodes"] if _has_prompt(node)], ("prompt",), chance)


def _swapped_sentence(raw: Definition, chance: random.Random) -> str | None:
    field = chance.choice(("say", "offline_say"))
    return _swap_texts([node for node in raw["nodes"] if node["type"] in ("agentNode", "endCall")], (field,), chance)


def _swapped_condition(raw: Definition, chance: random.Random) -> str | None:
    found = _sibling_pair(raw, chance, lambda one, other: one["data"]["condition"] != other["data"]["condition"])
    if found is None:
        return None
    one, other = found
    for name in ("condition", "examples"):
        one["data"][name], other["data"][name] = other["data"].get(name), one["data"].get(name)
    return f"{one['id']} and {other['id']}"


def _changed_phrase(raw: Definition, chance: random.Random) -> str | None:
    """Loses a word of a sentence that callers hear."""
    places = [
        (holder["data"], field, holder["id"])
        for holder in (*raw["nodes"], *raw["edges"])
        for field in (*_SPOKEN, "transition_speech")
        if len(str(holder["data"].get(field) or "").split()) > 3
    ]
    # a fixed sentence is said instead of the others
    places = [place for place in places if place[1] == "say" or not place[0].get("say")]
    # an offline sentence of the start is said on coming back, which nothing leads to
    places = [place for place in places if not (place[1] == "offline_say" and place[0].get("greeting"))]
    if not places:
        return None
    data, field, where = chance.choice(places)
    words = str(data[field]).split(" ")
    at = chance.randrange(len(words))
    lost = words.pop(at)
    data[field] = " ".join(words)
    return f"{lost!r} (word {at}) in {field} of {where}"


def _dead_loop(raw: Definition, chance: random.Random) -> str | None:
    """Leads all edges of a step back to the step or to the one before it."""
    steps = [node["id"] for node in raw["nodes"] if node["type"] == "agentNode"]
    node_id = chance.choice(steps) if steps else None
    leaving = [edge for edge in raw["edges"] if edge["source"] == node_id]
    if not leaving:
        return None
    before = [edge["source"] for edge in raw["edges"] if edge["target"] == node_id and edge["source"] in steps]
    # a step that leads to nothing else already would stay as it is
    back = chance.choice([place for place in (*before, node_id) if any(edge["target"] != place for edge in leaving)])
    for edge in leaving:
        edge["target"] = back
    return f"{node_id} leads only to {back}"


def _always_wins(raw: Definition, chance: random.Random) -> str | None:
    crowded = [edge for edge in raw["edges"] if sum(o["source"] == edge["source"] for o in raw["edges"]) > 1]
    edge = _pick(crowded, chance)
    if edge is None:
        return None
    edge["data"] |= {"condition": chance.choice(("always", "Always.", "next", "immediately"))}
    return str(edge["id"])


def _lost_key(raw: Definition, chance: random.Random) -> str | None:
    edge = _pick([edge for edge in raw["edges"] if edge["data"].get("digits")], chance)
    if edge is None:
        return None
    edge["data"]["digits"] = ""
    return str(edge["id"])


def _wrong_key(raw: Definition, chance: random.Random) -> str | None:
    edge = _pick([edge for edge in raw["edges"] if edge["data"].get("digits")], chance)
    if edge is None:
        return None
    taken = {other["data"].get("digits") for other in raw["edges"] if other["source"] == edge["source"]}
    edge["data"]["digits"] = chance.choice([key for key in "0123456789" if key not in taken])
    return f"{edge['id']} has the key {edge['data']['digits']}"


def _swapped_keys(raw: Definition, chance: random.Random) -> str | None:
    found = _sibling_pair(raw, chance, lambda one, other: one["data"].get("digits") != other["data"].get("digits"))
    if found is None:
        return None
    one, other = found
    one["data"]["digits"], other["data"]["digits"] = other["data"].get("digits", ""), one["data"].get("digits", "")
    return f"{one['id']} and {other['id']}"


def _copied_prompt(raw: Definition, chance: random.Random) -> str | None:
    return _copy_text([node for node in raw["nodes"] if _has_prompt(node)], "prompt", chance)


def _copied_sentence(raw: Definition, chance: random.Random) -> str | None:
    field = chance.choice(("say", "offline_say"))
    return _copy_text([node for node in raw["nodes"] if node["type"] in ("agentNode", "endCall")], field, chance)


def _reversed_condition(raw: Definition, chance: random.Random) -> str | None:
    """Adds or takes away a negation. Its examples stay, and the offline agent follows them."""
    reversed_texts = {
        edge["id"]: text
        for edge in raw["edges"]
        if edge["data"].get("examples") and (text := _reverse(edge["data"]["condition"])) is not None
    }
    edge = _pick([edge for edge in raw["edges"] if edge["id"] in reversed_texts], chance)
    if edge is None:
        return None
    edge["data"]["condition"] = reversed_texts[edge["id"]]
    return f"{edge['id']}: {edge['data']['condition']}"


def _reverse(condition: str) -> str | None:
    for pattern, instead in _REVERSALS:
        changed, count = pattern.subn(instead, condition, count=1)
        if count:
            return changed
    return None


def _copied_condition(raw: Definition, chance: random.Random) -> str | None:
    found = _sibling_pair(raw, chance, lambda one, other: one["data"]["condition"] != other["data"]["condition"])
    if found is None:
        return None
    one, other = chance.sample(found, 2)
    for name in ("condition", "examples"):
        one["data"][name] = copy.deepcopy(other["data"].get(name))
    return f"{one['id']} has that of {other['id']}"


def _lost_prompt(raw: Definition, chance: random.Random) -> str | None:
    holders = [node for node in raw["nodes"] if node["type"] == "globalNode" or _has_prompt(node)]
    node = _pick([node for node in holders if node["data"].get("prompt")], chance)
    if node is None:
        return None
    node["data"]["prompt"] = ""
    return str(node["id"])


def _mistyped_placeholder(raw: Definition, chance: random.Random) -> str | None:
    places = [
        (holder["data"], field, holder["id"])
        for holder in (*raw["nodes"], *raw["edges"])
        for field in (*_SPOKEN, "prompt", "condition", "transition_speech")
        if _SLOT.search(str(holder["data"].get(field) or ""))
    ]
    if not places:
        return None
    data, field, where = chance.choice(places)
    found = chance.choice(list(_SLOT.finditer(data[field])))
    name = found[1]
    at = chance.randrange(len(name))
    mistyped = name[:at] + name[at + 1 :] if len(name) > 1 else f"{name}x"
    data[field] = data[field][: found.start(1)] + mistyped + data[field][found.end(1) :]
    return f"{name} is {mistyped} in {field} of {where}"


def _changed_default(raw: Definition, chance: random.Random) -> str | None:
    """Writes other words for a missing value, or loses one of them or all."""
    places = [
        (holder["data"], field, holder["id"], found)
        for holder in (*raw["nodes"], *raw["edges"])
        for field in (*_SPOKEN, "prompt", "condition", "transition_speech")
        for found in _DEFAULT.finditer(str(holder["data"].get(field) or ""))
    ]
    # a fixed sentence is said instead of an offline one, and a greeting instead of both
    places = [
        place
        for place in places
        if not (place[1] == "offline_say" and (place[0].get("say") or place[0].get("greeting")))
    ]
    if not places:
        return None
    data, field, where, found = chance.choice(places)
    words = found[1].split()
    shorter = [" ".join([*words[:at], *words[at + 1 :]]) for at in range(len(words))]
    other = chance.choice([text for text in (*shorter, *_OTHER_DEFAULTS) if text != found[1]])
    data[field] = data[field][: found.start(1)] + other + data[field][found.end(1) :]
    return f"{found[1]!r} is {other!r} in {field} of {where}"


def _changed_type(raw: Definition, chance: random.Random) -> str | None:
    node = _pick([node for node in raw["nodes"] if node["data"].get("extraction_variables")], chance)
    if node is None:
        return None
    variable = chance.choice(node["data"]["extraction_variables"])
    variable["type"] = _OTHER_TYPES[variable.get("type") or "string"]
    return f"{variable['name']} of {node['id']} is a {variable['type']}"


def _wrong_tool(raw: Definition, chance: random.Random) -> str | None:
    everywhere = sorted({tool for node in raw["nodes"] for tool in node["data"].get("tool_uuids") or ()})
    node = _pick([node for node in raw["nodes"] if node["data"].get("tool_uuids")], chance)
    others = [tool for tool in everywhere if node is not None and tool not in node["data"]["tool_uuids"]]
    if node is None or not others:
        return None
    at = chance.randrange(len(node["data"]["tool_uuids"]))
    lost = node["data"]["tool_uuids"][at]
    node["data"]["tool_uuids"][at] = chance.choice(others)
    return f"{node['data']['tool_uuids'][at]} instead of {lost} at {node['id']}"


def _doubled_edge(raw: Definition, chance: random.Random) -> str | None:
    """Adds a copy of an edge that leads to another step, before the edge itself."""
    edge = _pick(raw["edges"], chance)
    others = [node["id"] for node in raw["nodes"] if node["type"] in ("agentNode", "endCall")]
    others = [node_id for node_id in others if edge is not None and node_id not in (edge["target"], edge["source"])]
    if edge is None or not others:
        return None
    copied = {**copy.deepcopy(edge), "id": f"{edge['id']}-copy", "target": chance.choice(others)}
    raw["edges"].insert(raw["edges"].index(edge), copied)
    return f"{edge['id']} leads to {copied['target']} too"


def _lost_end(raw: Definition, chance: random.Random) -> str | None:
    """Makes a step of an end, so that the call goes on."""
    node = _pick([node for node in raw["nodes"] if node["type"] == "endCall"], chance)
    if node is None:
        return None
    node["type"] = "agentNode"
    return str(node["id"])


def _never_taken(raw: Definition, chance: random.Random) -> str | None:
    edge = _pick(raw["edges"], chance)
    if edge is None:
        return None
    edge["data"] |= {"condition": "never", "digits": ""}
    return str(edge["id"])


def _sibling_pair(
    raw: Definition, chance: random.Random, differs: Callable[[Any, Any], bool]
) -> tuple[Any, Any] | None:
    pairs = [
        (one, other)
        for one, other in combinations(raw["edges"], 2)
        if one["source"] == other["source"] and differs(one, other)
    ]
    return chance.choice(pairs) if pairs else None


def _swap_texts(holders: Sequence[Any], fields: Sequence[str], chance: random.Random) -> str | None:
    name = fields[0]
    pairs = [
        (one, other)
        for one, other in combinations(holders, 2)
        if one["data"].get(name) and other["data"].get(name) and one["data"][name] != other["data"][name]
    ]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    for field in fields:
        one["data"][field], other["data"][field] = other["data"][field], one["data"][field]
    return f"{name} of {one['id']} and {other['id']}"


def _copy_text(holders: Sequence[Any], field: str, chance: random.Random) -> str | None:
    """Overwrites the text of one place with that of another."""
    texts = [holder for holder in holders if holder["data"].get(field)]
    pairs = [(one, other) for one, other in combinations(texts, 2) if one["data"][field] != other["data"][field]]
    if not pairs:
        return None
    one, other = chance.sample(chance.choice(pairs), 2)
    one["data"][field] = other["data"][field]
    return f"{field} of {one['id']} is that of {other['id']}"


def _has_prompt(node: Any) -> bool:
    """An end with a fixed sentence asks no model: its prompt changes nothing."""
    return node["type"] in _STEPS and not (node["type"] == "endCall" and node["data"].get("say"))


def _pick(items: Sequence[Any], chance: random.Random) -> Any:
    return chance.choice(items) if items else None


SLIPS: Final[dict[str, Slip]] = {
    "wrong_edge": _wrong_edge,
    "lost_variable": _lost_variable,
    "dropped_tool": _dropped_tool,
    "swapped_prompt": _swapped_prompt,
    "dead_loop": _dead_loop,
    "changed_phrase": _changed_phrase,
    "swapped_targets": _swapped_targets,
    "lost_edge": _lost_edge,
    "renamed_variable": _renamed_variable,
    "swapped_sentence": _swapped_sentence,
    "swapped_condition": _swapped_condition,
    "always_wins": _always_wins,
    "never_taken": _never_taken,
    "lost_key": _lost_key,
    "wrong_key": _wrong_key,
    "swapped_keys": _swapped_keys,
    "copied_prompt": _copied_prompt,
    "copied_sentence": _copied_sentence,
    "copied_condition": _copied_condition,
    "lost_prompt": _lost_prompt,
    "mistyped_placeholder": _mistyped_placeholder,
    "changed_type": _changed_type,
    "wrong_tool": _wrong_tool,
    "doubled_edge": _doubled_edge,
    "lost_end": _lost_end,
    "reversed_condition": _reversed_condition,
    "changed_default": _changed_default,
}
