"""Plants one defect into an agent, by seed: the slips that people make in graphs."""

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from offhook.scenarios.engine.agent import ScenarioAgent, build_scenario_agent
from offhook.tools.definitions import HttpApiDefinition

Definition = dict[str, Any]
# Changes a definition in place and says what it did; None where it has no place for this defect.
Slip = Callable[[Definition, random.Random], str | None]
_SPOKEN: Final = ("say", "offline_say", "greeting")
_STEPS: Final = ("startCall", "agentNode", "endCall")


@dataclass(frozen=True, slots=True)
class PlantedDefect:
    """An agent with one defect. ``kind`` is the slip, ``what`` where it is."""

    kind: str
    what: str
    agent: ScenarioAgent


def plant_defects(agent: ScenarioAgent, chance: random.Random, count: int) -> Iterator[PlantedDefect]:
    """Yields defects of all kinds that the agent has a place for, in turn; no two are the same."""
    seen: set[str] = set()
    made = tries = 0
    while made < count and tries < count * 20:
        kind = list(SLIPS)[tries % len(SLIPS)]
        tries += 1
        found = _plant(agent, kind, chance)
        if found is not None and found.what not in seen:
            seen.add(found.what)
            made += 1
            yield found


def plant_harmless(agent: ScenarioAgent, chance: random.Random) -> Iterator[PlantedDefect]:
    """Yields changes that no caller notices: nothing at all, the layout, the order of nodes, notes."""
    for kind in ("nothing", "layout", "order", "notes"):
        raw: Definition = copy.deepcopy(dict(agent.definition))
        if kind == "layout":
            for node in raw["nodes"]:
                node["position"] = {"x": chance.randint(-900, 900), "y": chance.randint(-900, 900)}
        elif kind == "order":
            chance.shuffle(raw["nodes"])
        elif kind == "notes":
            for node in raw["nodes"]:
                node["data"]["notes"] = f"Checked on day {chance.randint(1, 99)}."
        yield PlantedDefect(kind, kind, _rebuild(agent, raw))


def _plant(agent: ScenarioAgent, kind: str, chance: random.Random) -> PlantedDefect | None:
    if kind == "missing_timeout":
        return _lose_timeout(agent, chance)
    raw: Definition = copy.deepcopy(dict(agent.definition))
    what = SLIPS[kind](raw, chance)
    return None if what is None else PlantedDefect(kind, f"{kind}: {what}", _rebuild(agent, raw))


def _rebuild(agent: ScenarioAgent, raw: Definition) -> ScenarioAgent:
    return build_scenario_agent(
        agent.name,
        raw,
        configurations=agent.configurations,
        tools=agent.tools,
        documents=agent.documents,
        variables=agent.variables,
    )


def _lose_timeout(agent: ScenarioAgent, chance: random.Random) -> PlantedDefect | None:
    slow = [tool for tool in agent.tools if isinstance(tool.definition, HttpApiDefinition)]
    if not slow:
        return None
    chosen = chance.choice(slow)
    config = chosen.definition.config.model_copy(update={"timeout_ms": 30_000})  # type: ignore[union-attr]
    definition = chosen.definition.model_copy(update={"config": config})
    tools = [replace(tool, definition=definition) if tool is chosen else tool for tool in agent.tools]
    return PlantedDefect("missing_timeout", f"missing_timeout: {chosen.id}", replace(agent, tools=tools))


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
    return _swap_texts([node for node in raw["nodes"] if node["type"] in _STEPS], ("prompt",), chance)


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
    back = chance.choice([*before, node_id])
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
    """A text offers a key, and its edge has another one."""
    edge = _pick([edge for edge in raw["edges"] if edge["data"].get("digits")], chance)
    if edge is None:
        return None
    source = next(node for node in raw["nodes"] if node["id"] == edge["source"])
    texts = " ".join(str(source["data"].get(field) or "") for field in (*_SPOKEN, "prompt"))
    if f"press {edge['data']['digits']}" not in texts.lower():
        return None
    edge["data"]["digits"] = ""
    return str(edge["id"])


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


def _pick(items: Sequence[Any], chance: random.Random) -> Any:
    return chance.choice(items) if items else None


SLIPS: Final[dict[str, Slip]] = {
    "wrong_edge": _wrong_edge,
    "lost_variable": _lost_variable,
    "dropped_tool": _dropped_tool,
    "swapped_prompt": _swapped_prompt,
    "dead_loop": _dead_loop,
    "missing_timeout": lambda raw, chance: None,
    "changed_phrase": _changed_phrase,
    "swapped_targets": _swapped_targets,
    "lost_edge": _lost_edge,
    "renamed_variable": _renamed_variable,
    "swapped_sentence": _swapped_sentence,
    "swapped_condition": _swapped_condition,
    "always_wins": _always_wins,
    "lost_key": _lost_key,
    "never_taken": _never_taken,
}
