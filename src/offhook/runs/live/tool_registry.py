"""The tools available to agents: their organization's, looked up for each conversation, and the demos' built-in one."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.runs.call_toolbox import (
    BUILT_IN,
    CallToolbox,
    ToolContext,
    build_mcp_functions,
    build_tool,
    describe_tool,
    function_name,
)
from offhook.runs.live.call_tools import CallTransferService, RecordingControl, ToolText
from offhook.runs.tables import Run
from offhook.tools import ToolRunner
from offhook.tools import service as tools
from offhook.tools.definitions import (
    McpDefinition,
    read_definition,
)
from offhook.voice.ports import AgentTool
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.tool_facts import ToolFacts


class ToolRegistry:
    """Builds the toolbox of each conversation; implements ``workflows.ports.ToolCatalog``."""

    def __init__(self, db: Database, runner: ToolRunner) -> None:
        self._db = db
        self._runner = runner
        # set by the domain that transfers calls; without it the tool answers that it cannot
        self.transfers: CallTransferService | None = None

    async def toolbox_for_run(
        self, run: Run, graph: WorkflowGraph, context: Mapping[str, Any], recording: RecordingControl | None = None
    ) -> CallToolbox:
        """Returns the tools that this graph names. ``context`` is live: it grows as the agent learns values."""
        uuids = {uuid for node in graph.nodes.values() for uuid in node.tool_uuids} - BUILT_IN.keys()
        if not uuids:
            return CallToolbox()
        async with self._db.transaction() as session:
            rows = await tools.named_tools(session, run.organization_id, uuids)
        single: dict[str, AgentTool] = {}
        mcp: dict[str, dict[str, AgentTool]] = {}
        for row in rows:
            if row.status != tools.ACTIVE:
                continue
            uuid, definition = str(row.tool_uuid), read_definition(row.definition)
            text = ToolText(function_name(row.name), row.description or "")
            if isinstance(definition, McpDefinition):
                mcp[uuid] = build_mcp_functions(text.name, definition, run.organization_id, self._runner)
            else:
                call = ToolContext(run.organization_id, run.id, self._runner, self.transfers, context, recording)
                single[uuid] = build_tool(text, definition, call)
        return CallToolbox(single, mcp)

    async def get_tool_facts(
        self, session: AsyncSession, organization_id: int, tool_uuids: Collection[str]
    ) -> Mapping[str, ToolFacts]:
        found = {
            uuid: ToolFacts(tool.spec.name, timeout_s=tool.timeout_s)
            for uuid, tool in BUILT_IN.items()
            if uuid in tool_uuids
        }
        for row in await tools.named_tools(session, organization_id, tool_uuids):
            definition = read_definition(row.definition)
            found[str(row.tool_uuid)] = describe_tool(row.name, definition, is_archived=row.status == tools.ARCHIVED)
        return found
