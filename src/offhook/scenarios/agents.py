"""Agents of an organization, as scenarios play them."""

import asyncio
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import NotFound
from offhook.knowledge import service as knowledge
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.files import parse_scenarios
from offhook.tools import service as tools
from offhook.tools.definitions import read_definition
from offhook.workflows import service as workflows
from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.service import VersionToRun
from offhook.workflows.version_scenarios.queries import read_scenarios

# Scenarios get whole documents: a passage is chosen where a document is searched, which text on virtual time is not.
MAX_DOCUMENT_CHARS: Final = 1_000_000


async def find_workflow_id(session: AsyncSession, organization_id: int, id_or_name: str) -> int:
    """Returns the workflow with this id or exact name. Raises NotFound, also for an ambiguous name."""
    if id_or_name.isascii() and id_or_name.isdigit():
        return (await workflows.get_workflow(session, organization_id, int(id_or_name))).id
    rows, _ = await workflows.list_names(session, organization_id, ("active",), limit=None, offset=0)
    found = [int(row[0]) for row in rows if row[1] == id_or_name]
    if len(found) != 1:
        how_many = "No agent is" if not found else "Several agents are"
        raise NotFound(f"{how_many} named {id_or_name!r}. Use its id.")
    return found[0]


async def load_version(
    session: AsyncSession, organization_id: int, workflow_id: int, *, is_draft: bool = False, number: int | None = None
) -> VersionToRun:
    """Returns the published version, the draft (the published one if there is none), or a version by its number."""
    if number is not None:
        return await workflows.get_numbered_version(session, organization_id, workflow_id, number)
    return await workflows.get_version_to_run(session, organization_id, workflow_id, use_draft=is_draft)


async def load_scenarios(session: AsyncSession, version: VersionToRun) -> tuple[Scenario, ...]:
    """Returns the scenarios that the version keeps."""
    stored = await read_scenarios(session, version.organization_id, version.version_id)
    return await asyncio.to_thread(parse_scenarios, list(stored))


async def load_agent(session: AsyncSession, version: VersionToRun) -> ScenarioAgent:
    """Returns a version's agent with its documents, and with its organization's tools, which only give the answers of
    scenarios."""
    graph = parse_graph(version.definition)
    refs = {ref for node in graph.nodes.values() for ref in node.document_refs}
    return build_scenario_agent(
        version.workflow_name,
        version.definition,
        configurations=version.configurations,
        tools=await load_tools(session, version.organization_id, graph),
        variables=version.template_context_variables,
        documents=await knowledge.read_texts(session, version.organization_id, refs, max_chars=MAX_DOCUMENT_CHARS),
    )


async def load_tools(session: AsyncSession, organization_id: int, graph: WorkflowGraph) -> list[ScenarioTool]:
    """Returns the tools of the organization that the graph names; those that are archived are left out."""
    uuids = {uuid for node in graph.nodes.values() for uuid in node.tool_uuids}
    rows = await tools.named_tools(session, organization_id, uuids) if uuids else ()
    return [
        ScenarioTool(str(row.tool_uuid), row.name, row.description or "", read_definition(row.definition))
        for row in rows
        if row.status == tools.ACTIVE
    ]
