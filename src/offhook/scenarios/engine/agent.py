"""An agent as scenarios play it: its graph, settings, tools and documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from offhook.scenarios.errors import AgentNotTestable
from offhook.tools.definitions import ToolDefinition
from offhook.voice.config import CallConfig
from offhook.workflows.graph import WorkflowGraph, parse_graph


@dataclass(frozen=True, slots=True)
class ScenarioTool:
    """A tool of the organization. ``id`` is what nodes name it by."""

    id: str
    name: str
    description: str
    definition: ToolDefinition


@dataclass(frozen=True, slots=True)
class ScenarioAgent:
    """``graph`` and ``config`` are what calls read of ``definition`` and ``configurations``. ``documents`` are texts by
    the id that nodes refer to them with."""

    name: str
    graph: WorkflowGraph
    definition: Mapping[str, Any]
    configurations: Mapping[str, Any] = field(default_factory=dict)
    config: CallConfig = field(default_factory=CallConfig)
    tools: Sequence[ScenarioTool] = ()
    documents: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)


def build_scenario_agent(
    name: str,
    definition: Mapping[str, Any],
    *,
    configurations: Mapping[str, Any] | None = None,
    tools: Sequence[ScenarioTool] = (),
    documents: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> ScenarioAgent:
    """Returns the agent of a definition. Raises AgentNotTestable when it has no start."""
    graph = parse_graph(definition)
    if graph.start_id is None:
        raise AgentNotTestable(f"{name} has no start node. Add one first.")
    return ScenarioAgent(
        name=name,
        graph=graph,
        definition=definition,
        configurations=configurations or {},
        # no line here is noisy, and no thread keeps up with time that jumps
        config=replace(CallConfig.from_configurations(configurations or {}), cleaning=None),
        tools=tools,
        documents=documents or {},
        variables=variables or {},
    )
