"""Compares an agent's graph with what its scenarios and its telephone calls took."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.lists import visit_queries
from offhook.scenarios.coverage import queries
from offhook.voice.events import EDGE_TAKEN, NODE_ENTERED
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph
from offhook.workflows.nodes import KINDS
from offhook.workflows.version_scenarios.service import VersionScenarios, get_version_scenarios

MAX_DAYS: Final = 92
# Each has about a hundred events: more would keep the database from calls.
MAX_CALLS: Final = 500


@dataclass(frozen=True, slots=True)
class GraphCoverage:
    """How many conversations took each part of a version, by id, in the order of its graph; 0: none did."""

    version_number: int
    version_status: str
    nodes: Mapping[str, int]
    edges: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ScenarioCoverageReport:
    """Only scenarios that passed are in ``graph``: one that fails proves nothing. ``keyed_edges`` are those that a key
    took in one of them."""

    graph: GraphCoverage
    keyed_edges: frozenset[str]
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
    nodes = Counter(node for outcome in passed for node in set(outcome["nodes"]))
    edges = Counter(edge for outcome in passed for edge in set(outcome["edges"]))
    return ScenarioCoverageReport(
        graph=await _cover_graph(session, organization_id, workflow_id, version, nodes, edges),
        # results of older servers do not say
        keyed_edges=frozenset(str(edge) for outcome in passed for edge in outcome.get("keyed_edges", ())),
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
    visits = await visit_queries.count_visits(session, organization_id, calls) if calls else {}
    nodes = {part: count for (kind, part), count in visits.items() if kind == NODE_ENTERED}
    edges = {part: count for (kind, part), count in visits.items() if kind == EDGE_TAKEN}
    graph = await _cover_graph(session, organization_id, workflow_id, version, nodes, edges)
    return CallCoverageReport(graph, days, len(calls), len(found) > max_calls)


async def _cover_graph(
    session: AsyncSession,
    organization_id: int,
    workflow_id: int,
    version: VersionScenarios,
    nodes: Mapping[str, int],
    edges: Mapping[str, int],
) -> GraphCoverage:
    kept = await workflows.get_numbered_version(session, organization_id, workflow_id, version.version_number)
    # in a thread: this loop may be carrying audio
    node_ids, edge_ids = await asyncio.to_thread(_parts_of, kept.definition)
    return GraphCoverage(
        version.version_number,
        version.version_status,
        {node: nodes.get(node, 0) for node in node_ids},
        {edge: edges.get(edge, 0) for edge in edge_ids},
    )


def _parts_of(definition: JsonObject) -> tuple[list[str], list[str]]:
    """Returns the nodes that callers talk at, as the publish gate counts them, and all edges."""
    graph = parse_graph(definition)
    nodes = [node.id for node in graph.nodes.values() if node.kind in KINDS and KINDS[node.kind].is_conversational]
    return nodes, [edge.id for group in graph.edges.values() for edge in group]
