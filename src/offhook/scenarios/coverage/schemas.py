"""Responses about coverage."""

from collections.abc import Mapping
from datetime import datetime

from offhook.kit.schema import Schema
from offhook.scenarios.coverage.service import CallCoverageReport, GraphCoverage, ScenarioCoverageReport
from offhook.workflows.analysis import EdgeCondition


class CoveredPartResponse(Schema):
    """How many conversations took a node or an edge."""

    id: str
    count: int


class CoveredConditionResponse(Schema):
    """How many conversations took an edge with words, or with its key."""

    edge_id: str
    condition: EdgeCondition
    count: int


class CoveredToolResponse(Schema):
    """In how many conversations a tool answered, and in how many of these with an error."""

    id: str
    name: str
    count: int
    failed_count: int


class GraphCoverageResponse(Schema):
    """``nodes`` are those that callers talk at; ``tools`` those that nodes name. An edge has a condition for words, and
    one for its key. Tools count in calls whose words are kept."""

    version_number: int
    version_status: str
    nodes: list[CoveredPartResponse]
    edges: list[CoveredPartResponse]
    conditions: list[CoveredConditionResponse]
    tools: list[CoveredToolResponse]


class ScenarioCoverageResponse(GraphCoverageResponse):
    """Scenarios that passed when they were last played with this version count. ``played`` of ``total`` were, ``passed`` of
    these did. A draft may have changed since ``last_played_at``."""

    total: int
    played: int
    passed: int
    last_played_at: datetime | None

    @classmethod
    def from_coverage(cls, found: ScenarioCoverageReport) -> "ScenarioCoverageResponse":
        return cls(
            **_describe_graph(found.graph).model_dump(),
            total=found.total,
            played=found.played,
            passed=found.passed,
            last_played_at=found.last_played_at,
        )


class CallCoverageResponse(GraphCoverageResponse):
    """``calls`` of the last ``days`` were read; with ``has_more`` there were more, and these are the newest."""

    days: int
    calls: int
    has_more: bool

    @classmethod
    def from_coverage(cls, found: CallCoverageReport) -> "CallCoverageResponse":
        return cls(
            **_describe_graph(found.graph).model_dump(), days=found.days, calls=found.calls, has_more=found.has_more
        )


def _describe_graph(graph: GraphCoverage) -> GraphCoverageResponse:
    return GraphCoverageResponse(
        version_number=graph.version_number,
        version_status=graph.version_status,
        nodes=_list_parts(graph.nodes),
        edges=_list_parts(graph.edges),
        conditions=[
            CoveredConditionResponse(edge_id=edge, condition=condition, count=count)
            for (edge, condition), count in graph.conditions.items()
        ],
        tools=[
            CoveredToolResponse(id=tool.id, name=tool.name, count=tool.count, failed_count=tool.failed_count)
            for tool in graph.tools
        ],
    )


def _list_parts(counts: Mapping[str, int]) -> list[CoveredPartResponse]:
    return [CoveredPartResponse(id=part, count=count) for part, count in counts.items()]
