"""The tools of one conversation, built from their definitions: its organization's, and the demos' built-in one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.models.ports import ToolSpec
from offhook.runs.live.call_tools import (
    SLACK_S,
    CallTransferService,
    McpFunctionTool,
    RecordingControl,
    ToolRequester,
    ToolText,
    build_calculator,
    build_end_call_tool,
    build_http_tool,
    build_recording_tool,
    build_transfer_tool,
)
from offhook.runs.live.demo_tool import DEMO_ORDER_STATUS, DemoOrderStatusTool
from offhook.tools.definitions import (
    CalculatorDefinition,
    EndCallDefinition,
    HttpApiDefinition,
    McpDefinition,
    RecordingDefinition,
    ToolDefinition,
    TransferCallDefinition,
)
from offhook.voice.ports import AgentTool
from offhook.workflows.graph import MAX_TOOL_NAME
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation.references import custom_tool_name

BUILT_IN: Final[dict[str, AgentTool]] = {DEMO_ORDER_STATUS: DemoOrderStatusTool()}


class CallToolbox:
    """Implements ``voice.ports.AgentToolbox`` for one conversation. ``mcp`` holds MCP tools' functions by name."""

    def __init__(
        self, single: Mapping[str, AgentTool] | None = None, mcp: Mapping[str, Mapping[str, AgentTool]] | None = None
    ):
        self._single = {**BUILT_IN, **(single or {})}
        self._mcp = mcp or {}

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]:
        found: dict[str, AgentTool] = {}
        for uuid in dict.fromkeys(tool_uuids):
            if uuid in self._single:
                offered = [self._single[uuid]]
            else:
                wanted = (mcp_filters or {}).get(uuid)
                functions = self._mcp.get(uuid, {})
                offered = [tool for name, tool in functions.items() if not isinstance(wanted, list) or name in wanted]
            for tool in offered:
                # vendors reject two functions of one name; the first one wins, as validation warns
                found.setdefault(tool.spec.name, tool)
        return list(found.values())


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call that tools are built for. ``context`` is live: it grows as the agent learns values."""

    organization_id: int
    run_id: int
    requester: ToolRequester
    transfers: CallTransferService | None
    context: Mapping[str, Any]
    recording: RecordingControl | None = None


def build_tool(text: ToolText, definition: ToolDefinition, call: ToolContext) -> AgentTool:
    """Returns a tool that is one function; an MCP server has several, see :func:`build_mcp_functions`."""
    if isinstance(definition, HttpApiDefinition):
        return build_http_tool(text, definition.config, call.organization_id, call.requester, call.context)
    if isinstance(definition, EndCallDefinition):
        return build_end_call_tool(text, definition.config)
    if isinstance(definition, TransferCallDefinition):
        return build_transfer_tool(text, definition.config, call.organization_id, call.run_id, call.transfers)
    if isinstance(definition, RecordingDefinition):
        return build_recording_tool(text, definition.config, call.recording)
    assert isinstance(definition, CalculatorDefinition)
    return build_calculator(text)


def build_mcp_functions(
    prefix: str, definition: McpDefinition, organization_id: int, requester: ToolRequester
) -> dict[str, AgentTool]:
    """Returns the functions of an MCP server by their own names."""
    config, found, names = definition.config, dict[str, AgentTool](), _mcp_function_names(prefix, definition)
    for entry in config.discovered_tools:
        name = str(entry.get("name") or "")
        if name not in names:
            continue
        parameters = entry.get("parameters")
        found[name] = McpFunctionTool(
            spec=ToolSpec(
                names[name],
                str(entry.get("description") or ""),
                parameters if isinstance(parameters, dict) else {"type": "object", "properties": {}},
            ),
            timeout_s=float(config.timeout_secs or 30) + SLACK_S,
            organization_id=organization_id,
            config=config,
            function=name,
            tool_runner=requester,
        )
    return found


def describe_tool(name: str, definition: ToolDefinition, *, is_archived: bool = False) -> ToolFacts:
    """Returns what the validation of agents needs to know of a tool."""
    return ToolFacts(
        name,
        timeout_s=_tool_timeout_s(definition),
        is_transfer=isinstance(definition, TransferCallDefinition),
        ends_call=isinstance(definition, EndCallDefinition),
        is_archived=is_archived,
        functions=_mcp_function_names(name, definition) if isinstance(definition, McpDefinition) else None,
    )


def _tool_timeout_s(definition: ToolDefinition) -> float:
    if isinstance(definition, HttpApiDefinition):
        return definition.config.timeout_ms / 1000
    if isinstance(definition, TransferCallDefinition):
        return float(definition.config.timeout)
    return float(definition.config.timeout_secs or 30) if isinstance(definition, McpDefinition) else 2.0


def _mcp_function_names(tool: str, definition: McpDefinition) -> dict[str, str]:
    """Returns the function names that models use for an MCP server's functions, by the server's own names."""
    config = definition.config
    names = (str(entry.get("name") or "") for entry in config.discovered_tools)
    wanted = (name for name in names if name and (not config.tools_filter or name in config.tools_filter))
    return {name: function_name(f"{function_name(tool)}_{name}") for name in wanted}


def function_name(name: str) -> str:
    """Returns a tool's function name for models: letters, digits and ``_``, at most 64, starting with a letter."""
    plain = custom_tool_name(name).strip("_")[:MAX_TOOL_NAME]
    return plain if re.match(r"[a-z]", plain) else f"tool_{plain}"[:MAX_TOOL_NAME].rstrip("_")
