"""How much of a graph the scenarios take: nodes, edges, their conditions, tools, and tools that fail."""

from collections.abc import Iterable
from dataclasses import dataclass

from offhook.kit.json_values import JsonObject
from offhook.scenarios.checks import list_tool_functions
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.suite import ScenarioResult
from offhook.workflows.analysis import find_taken_conditions, list_conditions
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
    conditions = {
        f"{edge}/{condition}" for one in played for edge, condition in find_taken_conditions(one.edges, one.keyed_edges)
    }
    called = {name for one in played for name in one.tools}
    failed = {name for one in played for name in one.failed_tools}
    functions = list_tool_functions(graph, agent.tools)
    uuids = list(functions)
    return ScenarioCoverage(
        nodes=_share(steps, {node for one in played for node in one.nodes}),
        edges=_share([edge.id for edge in edges], {edge for one in played for edge in one.edges}),
        conditions=_share(
            [f"{edge.id}/{condition}" for edge in edges for condition in list_conditions(edge)],
            conditions,
        ),
        tools=_share(uuids, {uuid for uuid in uuids if not functions[uuid].isdisjoint(called)}),
        error_paths=_share(uuids, {uuid for uuid in uuids if not functions[uuid].isdisjoint(failed)}),
    )


def _share(whole: list[str], taken: set[str]) -> CoverageShare:
    return CoverageShare(
        tuple(name for name in whole if name in taken), tuple(name for name in whole if name not in taken)
    )
