"""How much of a graph the scenarios take: nodes, edges, their conditions, tools, and tools that fail."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offhook.kit.json_values import JsonObject
from offhook.runs.live.tool_registry import function_name
from offhook.scenarios.checks import describe_tools
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.suite import ScenarioResult
from offhook.voice import events
from offhook.workflows.analysis import list_conditions
from offhook.workflows.nodes import KINDS


@dataclass(frozen=True, slots=True)
class CoverageShare:
    """What was taken of what there is; both by id, in the order of the graph."""

    taken: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def percent(self) -> float:
        total = len(self.taken) + len(self.missed)
        return 100.0 if total == 0 else round(100 * len(self.taken) / total, 1)

    def as_json(self) -> JsonObject:
        return {"percent": self.percent, "taken": list(self.taken), "missed": list(self.missed)}


@dataclass(frozen=True, slots=True)
class ScenarioCoverage:
    """``conditions`` are what takes an edge, words and its key, as ``edge/words`` and ``edge/key``. ``tools`` are those
    that nodes name, by id; ``error_paths`` are the same tools, failing."""

    nodes: CoverageShare
    edges: CoverageShare
    conditions: CoverageShare
    tools: CoverageShare
    error_paths: CoverageShare

    def shares(self) -> dict[str, CoverageShare]:
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "conditions": self.conditions,
            "tools": self.tools,
            "error_paths": self.error_paths,
        }

    def as_json(self) -> JsonObject:
        return {name: share.as_json() for name, share in self.shares().items()}


def measure_coverage(agent: ScenarioAgent, results: Iterable[ScenarioResult]) -> ScenarioCoverage:
    """Returns what the scenarios that passed have taken: one that fails proves nothing."""
    played = [result.played for result in results if result.has_passed and result.played is not None]
    graph = agent.graph
    steps = [node.id for node in graph.nodes.values() if node.kind in KINDS and KINDS[node.kind].is_conversational]
    edges = [edge for group in graph.edges.values() for edge in group]
    by_key = {("key", edge) for one in played for edge in one.keyed_edges}
    # an edge that is taken with a key in one turn and with words in another has been taken twice
    by_words = {
        ("words", edge)
        for one in played
        for edge, times in Counter(one.edges).items()
        if times > Counter(one.keyed_edges)[edge]
    }
    uuids = list(dict.fromkeys(uuid for node in graph.nodes.values() for uuid in node.tool_uuids))
    answers = [event.data for one in played for event in one.journal if event.type == events.TOOL_ANSWERED]
    called = {str(data["name"]) for data in answers}
    failed = {str(data["name"]) for data in answers if not data["ok"]}
    names = _function_names(agent, uuids)
    return ScenarioCoverage(
        nodes=_share(steps, {node for one in played for node in one.nodes}),
        edges=_share([edge.id for edge in edges], {edge for one in played for edge in one.edges}),
        conditions=_share(
            [f"{edge.id}/{condition}" for edge in edges for condition in list_conditions(edge)],
            {f"{edge}/{condition}" for condition, edge in by_key | by_words},
        ),
        tools=_share(uuids, {uuid for uuid in uuids if not names[uuid].isdisjoint(called)}),
        error_paths=_share(uuids, {uuid for uuid in uuids if not names[uuid].isdisjoint(failed)}),
    )


def _function_names(agent: ScenarioAgent, uuids: Sequence[str]) -> dict[str, set[str]]:
    """Returns, by tool, the names that calls of it have in the journal."""
    facts = describe_tools(agent)
    names = {uuid: {function_name(uuid)} for uuid in uuids}
    for uuid, found in facts.items():
        names[uuid] = {function_name(found.name)} if found.functions is None else set(found.functions.values())
    return names


def _share(whole: list[str], taken: set[str]) -> CoverageShare:
    return CoverageShare(
        tuple(name for name in whole if name in taken), tuple(name for name in whole if name not in taken)
    )
