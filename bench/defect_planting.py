"""Plants one defect into an agent, by seed, and makes changes that are none."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from bench.defect_slips import SLIPS, Definition
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.gate.comparison import compare_graphs
from offhook.tools.definitions import HttpApiDefinition

MISSING_TIMEOUT: Final = "missing_timeout"
KINDS: Final = (*SLIPS, MISSING_TIMEOUT)
HARMLESS_KINDS: Final = ("nothing", "layout", "order", "notes", "names", "colors", "example", "shorter_timeout")


@dataclass(frozen=True, slots=True)
class PlantedDefect:
    """An agent with one defect. ``kind`` is the slip, ``what`` where it is."""

    kind: str
    what: str
    agent: ScenarioAgent


def plant_defects(
    agent: ScenarioAgent, chance: random.Random, count: int, known: set[str] | None = None
) -> Iterator[PlantedDefect]:
    """Yields defects of all kinds that the agent has a place for, in turn, from a kind that chance chooses; no two are
    the same, none is among the ``known`` ones, and each changes something that calls read."""
    seen: set[str] = set() if known is None else known
    first = chance.randrange(len(KINDS))
    made = tries = 0
    while made < count and tries < count * 30:
        kind = KINDS[(first + tries) % len(KINDS)]
        tries += 1
        found = _plant(agent, kind, chance)
        if found is not None and found.what not in seen and _is_change(agent, found.agent):
            seen.add(found.what)
            made += 1
            yield found


def plant_harmless(agent: ScenarioAgent, chance: random.Random) -> Iterator[PlantedDefect]:
    """Yields changes that are no defects: what no caller notices, one more example, a shorter timeout."""
    for kind in HARMLESS_KINDS:
        raw: Definition = copy.deepcopy(dict(agent.definition))
        tools = agent.tools
        if kind == "order":
            chance.shuffle(raw["nodes"])
        elif kind == "example":
            _add_example(raw, chance)
        elif kind == "shorter_timeout":
            tools = [_with_timeout(tool, 3_000) for tool in agent.tools]
        for node in raw["nodes"]:
            if kind == "layout":
                node["position"] = {"x": chance.randint(-900, 900), "y": chance.randint(-900, 900)}
            elif kind == "notes":
                node["data"]["notes"] = f"Checked on day {chance.randint(1, 99)}."
            elif kind == "names":
                node["data"]["name"] = f"{node['data']['name']} ({chance.randint(1, 99)})"
            elif kind == "colors":
                node["data"]["color"] = chance.choice(("red", "green", "blue"))
        yield PlantedDefect(kind, kind, _rebuild(replace(agent, tools=tools), raw))


def _plant(agent: ScenarioAgent, kind: str, chance: random.Random) -> PlantedDefect | None:
    if kind == MISSING_TIMEOUT:
        return _lose_timeout(agent, chance)
    raw: Definition = copy.deepcopy(dict(agent.definition))
    what = SLIPS[kind](raw, chance)
    return None if what is None else PlantedDefect(kind, f"{kind}: {what}", _rebuild(agent, raw))


def _is_change(agent: ScenarioAgent, changed: ScenarioAgent) -> bool:
    return bool(compare_graphs(agent.definition, changed.definition)) or list(agent.tools) != list(changed.tools)


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
    tools = [_with_timeout(tool, 30_000) if tool is chosen else tool for tool in agent.tools]
    return PlantedDefect(MISSING_TIMEOUT, f"{MISSING_TIMEOUT}: {chosen.id}", replace(agent, tools=tools))


def _with_timeout(tool: ScenarioTool, timeout_ms: int) -> ScenarioTool:
    if not isinstance(tool.definition, HttpApiDefinition):
        return tool
    config = tool.definition.config.model_copy(update={"timeout_ms": timeout_ms})
    return replace(tool, definition=tool.definition.model_copy(update={"config": config}))


def _add_example(raw: Definition, chance: random.Random) -> None:
    with_examples = [edge for edge in raw["edges"] if edge["data"].get("examples")]
    if with_examples:
        examples = chance.choice(with_examples)["data"]["examples"]
        examples.append(f"um, {chance.choice(examples)} please")
