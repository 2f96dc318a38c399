"""What an agent meets in a scenario instead of the world: tools that answer as the scenario says, documents."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import ToolSpec
from offhook.runs.call_toolbox import CallToolbox, ToolContext, build_mcp_functions, build_tool, function_name
from offhook.runs.live.call_tools import ToolText, TransferRefused
from offhook.scenarios.definition import Scenario, ToolMock
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool
from offhook.tools.definitions import HttpApiConfig, McpConfig, McpDefinition
from offhook.tools.errors import ToolCallFailed
from offhook.voice.ports import NO_ANNOUNCEMENT, AgentTool, ToolAnnouncement, ToolError

_DEFAULT_TIMEOUT_S: Final = 5.0
_ANY_ARGUMENTS: Final[JsonObject] = {"type": "object", "properties": {}}


@dataclass(eq=False)
class MissingMocks:
    """Implements ToolRequester: the requests that a scenario has no answer for, by tool."""

    names: list[str] = field(default_factory=list)

    async def call_http(
        self, organization_id: int, config: HttpApiConfig, arguments: Mapping[str, Any], context: Mapping[str, Any]
    ) -> Any:
        raise self.report(f"{config.method} request")

    async def call_mcp(self, organization_id: int, config: McpConfig, name: str, arguments: Mapping[str, Any]) -> Any:
        raise self.report(name)

    def report(self, name: str) -> ToolCallFailed:
        self.names.append(name)
        return ToolCallFailed("The scenario has no answer for this.")


class _NobodyAnswers:
    """Implements CallTransferService: the destination does as the mock says; without one it cannot be reached."""

    def __init__(self, mocks: Sequence[ToolMock]) -> None:
        self._mock = next((mock for mock in mocks if mock.transfer is not None), None)

    async def ring_destination(
        self, organization_id: int, run_id: int, number: str, timeout_s: float, *, is_blind: bool = False
    ) -> "_AnsweredTransfer":
        if self._mock is None:
            raise TransferRefused("unsupported")
        await asyncio.sleep(self._mock.takes_s)
        if self._mock.transfer != "answered":
            raise TransferRefused(str(self._mock.transfer))
        return _AnsweredTransfer()


class _AnsweredTransfer:
    """Implements CallHandover for a caller who does not exist."""

    async def connect_caller(self) -> None: ...

    async def release_destination(self) -> None: ...


@dataclass(frozen=True, slots=True)
class MockedTool:
    """Implements AgentTool: looks like the real one and gives the scenario's answers, the first that fits."""

    spec: ToolSpec
    mocks: tuple[ToolMock, ...]
    missing: MissingMocks
    has_side_effects: bool = False
    timeout_s: float = _DEFAULT_TIMEOUT_S
    blocks_barge_in: bool = False
    announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    success_announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    examples: tuple[str, ...] = ()

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        mock = next((mock for mock in self.mocks if holds(arguments, mock.arguments)), None)
        if mock is None:
            raise ToolError(str(self.missing.report(self.spec.name)))
        await asyncio.sleep(mock.takes_s)
        if mock.fails is not None:
            raise ToolError(mock.fails)
        return mock.result


class FixedDocuments:
    """Implements KnowledgeSource: whole texts, by reference."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        return [KnowledgePassage(ref, ref, self._texts[ref]) for ref in document_refs if ref in self._texts]


def build_toolbox(
    agent: ScenarioAgent, scenario: Scenario, context: Mapping[str, Any]
) -> tuple[CallToolbox, MissingMocks]:
    """Returns the agent's tools with the scenario's answers, and a list that collects what had none."""
    missing = MissingMocks()
    single: dict[str, AgentTool] = {}
    servers: dict[str, dict[str, AgentTool]] = {}
    for tool in agent.tools:
        if isinstance(tool.definition, McpDefinition):
            prefix = function_name(tool.name)
            functions = build_mcp_functions(prefix, tool.definition, 0, missing)
            servers[tool.id] = {
                name: _with_mocks(function, _mocks_for(scenario, name, function.spec.name), missing)
                for name, function in functions.items()
            }
        else:
            single[tool.id] = _build_single(tool, scenario, context, missing)
    known = {*single, *servers}
    built_in = CallToolbox()
    for uuid in sorted({uuid for node in agent.graph.nodes.values() for uuid in node.tool_uuids} - known):
        mocks = scenario.tools.get(uuid, ())
        if found := built_in.for_node([uuid]):
            single[uuid] = _with_mocks(found[0], _mocks_for(scenario, uuid, found[0].spec.name), missing)
        elif mocks:
            single[uuid] = MockedTool(ToolSpec(function_name(uuid), "", _ANY_ARGUMENTS), mocks, missing)
    return CallToolbox(single, servers), missing


def holds(whole: Any, part: Any) -> bool:
    """Returns whether ``part`` is in ``whole``: objects hold at least its keys; words are alike whatever their case."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and holds(whole[key], part[key]) for key in part)
    if isinstance(part, str) and isinstance(whole, str):
        return whole.strip().casefold() == part.strip().casefold()
    return bool(whole == part) and isinstance(whole, bool) == isinstance(part, bool)


def _build_single(
    tool: ScenarioTool, scenario: Scenario, context: Mapping[str, Any], missing: MissingMocks
) -> AgentTool:
    name = function_name(tool.name)
    mocks = _mocks_for(scenario, tool.id, tool.name, name)
    text = ToolText(name, tool.description)
    built = build_tool(text, tool.definition, ToolContext(0, 0, missing, _NobodyAnswers(mocks), context))
    return _with_mocks(built, tuple(mock for mock in mocks if mock.transfer is None), missing)


def _with_mocks(tool: AgentTool, mocks: tuple[ToolMock, ...], missing: MissingMocks) -> AgentTool:
    if not mocks:
        return tool
    return MockedTool(
        spec=tool.spec,
        mocks=mocks,
        missing=missing,
        has_side_effects=tool.has_side_effects,
        timeout_s=tool.timeout_s,
        blocks_barge_in=tool.blocks_barge_in,
        announcement=tool.announcement,
        success_announcement=tool.success_announcement,
        examples=getattr(tool, "examples", ()),
    )


def _mocks_for(scenario: Scenario, *names: str) -> tuple[ToolMock, ...]:
    return next((scenario.tools[name] for name in names if name in scenario.tools), ())
