"""Compares an agent's graph with what its scenarios and its telephone calls took."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.lists import visit_queries
from offhook.runs.lists.visit_queries import ToolAnswer, VisitCounts
from offhook.scenarios.agents import load_tools
from offhook.scenarios.checks import describe_tools, list_tool_functions
from offhook.scenarios.coverage import queries
from offhook.scenarios.engine.agent import ScenarioTool
from offhook.workflows import service as workflows
from offhook.workflows.analysis import EdgeCondition, find_taken_conditions, list_conditions
from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.nodes import KINDS
from offhook.workflows.version_scenarios.service import VersionScenarios, get_version_scenarios

MAX_DAYS: Final = 92
# Each has about a hundred events: more would keep the database from calls.
MAX_CALLS: Final = 500


@dataclass(frozen=True, slots=True)
class ToolCoverage:
    """In how many conversations a tool answered, and in how many of these with an error."""

    id: str
    name: str
    count: int
    failed_count: int


@dataclass(frozen=True, slots=True)
class GraphCoverage:
    """How many conversations took each part of a version, by id, in the order of its graph; 0: none did.
    ``conditions``: an edge with words, and with its key."""

    version_number: int
    version_status: str
    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    conditions: Mapping[tuple[str, EdgeCondition], int]
    tools: Sequence[ToolCoverage]


@dataclass(frozen=True, slots=True)
class ScenarioCoverageReport:
    """Only scenarios that passed are in ``graph``: one that fails proves nothing."""

    graph: GraphCoverage
    total: int
    played: int
    passed: int
    last_played_at: datetime | None


@dataclass(frozen=True, slots=True)
class CallCoverageReport:
    """``has_more``: there were more calls than were read, which are the newest."""

    graph: GraphCoverage
    days: int
    calls: int
    has_more: bool


async def measure_scenarios(
    session: AsyncSession, organization_id: int, workflow_id: int, *, number: int | None = None
) -> ScenarioCoverageReport:
    """Returns what the last results of a version's scenarios took. Raises WorkflowNotFound, VersionNotFound (404)."""
    version = await get_version_scenarios(session, organization_id, workflow_id, number)
    names = {str(scenario["name"]) for scenario in version.scenarios}
    rows = await queries.list_latest_paths(session, organization_id, workflow_id, version.version_number)
    # results of scenarios that were deleted or renamed stay with their play
    known = [row for row in rows if row.name in names]
    passed = [row.outcome for row in known if row.has_passed]
    visits, answers = _count_outcomes(passed)
    return ScenarioCoverageReport(
        graph=await _cover_graph(session, organization_id, workflow_id, version, visits, answers),
        total=len(names),
        played=len(known),
        passed=len(passed),
        last_played_at=max((row.played_at for row in known), default=None),
    )


async def measure_calls(
    session: AsyncSession,
    organization_id: int,
    workflow_id: int,
    now: datetime,
    *,
    days: int,
    max_calls: int = MAX_CALLS,
) -> CallCoverageReport:
    """Returns what the newest telephone calls of the last days took, with whatever version they were held. Raises
    WorkflowNotFound, VersionNotFound (404)."""
    version = await get_version_scenarios(session, organization_id, workflow_id)
    since = now - timedelta(days=days)
    found = await visit_queries.list_newest_calls(session, organization_id, workflow_id, since, limit=max_calls + 1)
    calls = found[:max_calls]
    visits = await visit_queries.count_visits(session, organization_id, calls)
    answers = await visit_queries.list_tool_answers(session, organization_id, calls)
    graph = await _cover_graph(session, organization_id, workflow_id, version, visits, answers)
    return CallCoverageReport(graph, days, len(calls), len(found) > max_calls)


async def _cover_graph(
    session: AsyncSession,
    organization_id: int,
    workflow_id: int,
    version: VersionScenarios,
    visits: VisitCounts,
    answers: Sequence[ToolAnswer],
) -> GraphCoverage:
    kept = await workflows.get_numbered_version(session, organization_id, workflow_id, version.version_number)
    # in a thread: this loop may be carrying audio
    graph = await asyncio.to_thread(parse_graph, kept.definition)
    tools = await load_tools(session, organization_id, graph)
    # the nodes that callers talk at, as the publish gate counts them
    steps = [node.id for node in graph.nodes.values() if node.kind in KINDS and KINDS[node.kind].is_conversational]
    edges = [edge for group in graph.edges.values() for edge in group]
    conditions = [(edge.id, condition) for edge in edges for condition in list_conditions(edge)]
    return GraphCoverage(
        version.version_number,
        version.version_status,
        {node: visits.nodes.get(node, 0) for node in steps},
        {edge.id: visits.edges.get(edge.id, 0) for edge in edges},
        {condition: visits.conditions.get(condition, 0) for condition in conditions},
        [*_cover_tools(graph, tools, answers)],
    )


def _count_outcomes(outcomes: Sequence[JsonObject]) -> tuple[VisitCounts, list[ToolAnswer]]:
    """Counts what scenarios took. Results of older servers do not name keys and tools."""
    nodes: Counter[str] = Counter()
    edges: Counter[str] = Counter()
    conditions: Counter[tuple[str, EdgeCondition]] = Counter()
    answers: list[ToolAnswer] = []
    for number, outcome in enumerate(outcomes):
        taken, keyed = _list_names(outcome, "edges"), _list_names(outcome, "keyed_edges")
        nodes.update(set(_list_names(outcome, "nodes")))
        edges.update(set(taken))
        conditions.update(find_taken_conditions(taken, keyed))
        failed = _list_names(outcome, "failed_tools")
        answers += [ToolAnswer(number, name, name in failed) for name in _list_names(outcome, "tools")]
    return VisitCounts(nodes, edges, conditions), answers


def _list_names(outcome: JsonObject, key: str) -> list[str]:
    names = outcome.get(key)
    return [str(name) for name in names] if isinstance(names, list) else []


def _cover_tools(
    graph: WorkflowGraph, tools: Sequence[ScenarioTool], answers: Sequence[ToolAnswer]
) -> Iterator[ToolCoverage]:
    """Yields the tools that nodes name. Calls of another version count where the tool has the same name."""
    facts = describe_tools(graph, tools)
    for uuid, functions in list_tool_functions(graph, tools).items():
        own = [answer for answer in answers if answer.name in functions]
        yield ToolCoverage(
            uuid,
            facts[uuid].name if uuid in facts else uuid,
            len({answer.run_id for answer in own}),
            len({answer.run_id for answer in own if answer.has_failed}),
        )
