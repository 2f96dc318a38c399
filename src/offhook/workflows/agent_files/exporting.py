"""Writes an agent as a file."""

from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject, ReadableJsonObject
from offhook.knowledge import service as knowledge
from offhook.tools import service as tools
from offhook.tools.definitions import credential_of, read_definition
from offhook.workflows import service
from offhook.workflows.agent_files.references import references_of, replace_in_scenarios, replace_references
from offhook.workflows.agent_files.schemas import (
    FILE_FORMAT,
    FILE_VERSION,
    AgentFile,
    AgentFileCredential,
    AgentFileDocument,
    AgentFileTool,
)
from offhook.workflows.agent_files.secret_values import without_secrets
from offhook.workflows.canaries import queries as canaries
from offhook.workflows.configurations import STORED, WorkflowConfigurations
from offhook.workflows.definition import without_trigger_paths
from offhook.workflows.errors import WorkflowNotFound
from offhook.workflows.graph import parse_graph
from offhook.workflows.validation.recordings import recording_references
from offhook.workflows.version_scenarios.queries import read_scenarios


async def export_agent(session: AsyncSession, organization_id: int, workflow_id: int) -> AgentFile:
    """Returns what an editor shows: the draft or, without one, the newest version that takes calls. Raises WorkflowNotFound (404)."""
    workflow = await service.get_workflow(session, organization_id, workflow_id)
    version = await canaries.shown_version(session, organization_id, workflow_id)
    if version is None:
        raise WorkflowNotFound
    named = references_of(version.definition)
    found_tools = {str(tool.tool_uuid): tool for tool in await tools.named_tools(session, organization_id, named.tools)}
    of_tools = [credential_of(read_definition(tool.definition)) for tool in found_tools.values()]
    wanted = {*named.credentials, *(ref for ref in of_tools if ref)}
    credential_names = await tools.credential_names(session, organization_id, wanted)
    documents = await knowledge.document_facts(session, organization_id, named.documents)

    tool_ids = {ref: f"tool-{at}" for at, ref in enumerate((ref for ref in named.tools if ref in found_tools), 1)}
    credential_ids = {ref: f"credential-{at}" for at, ref in enumerate(sorted(credential_names), 1)}
    # two references can name one document
    distinct = list(dict.fromkeys(documents[ref].id for ref in named.documents if ref in documents))
    document_ids = {ref: f"document-{distinct.index(known.id) + 1}" for ref, known in documents.items()}

    definition = replace_references(
        without_trigger_paths(version.definition),
        tools=tool_ids,
        documents=document_ids,
        find_credential=lambda ref, _: credential_ids.get(ref),
    )
    definition, omitted = without_secrets(definition, "workflow_definition")
    configurations, more = without_secrets(version.configurations, "workflow_configurations")
    omitted += more
    variables, more = without_secrets(version.template_context_variables, "template_context_variables")
    omitted += more
    stored = await read_scenarios(session, organization_id, version.id)
    scenarios, more = _without_secrets_of_calls(replace_in_scenarios(stored, tools=tool_ids, documents=document_ids))
    omitted += more
    file_tools = []
    for ref, file_id in tool_ids.items():
        tool = found_tools[ref]
        values = {"id": file_id, "name": tool.name, "description": tool.description, "category": tool.category}
        part, more = _describe_tool(values, tool.definition, credential_ids)
        file_tools.append(part)
        omitted += more
    names = {known.id: known.name for known in documents.values()}
    spoken = {place.recording_id for place in recording_references(parse_graph(definition), configurations)}
    return AgentFile(
        format=FILE_FORMAT,
        version=FILE_VERSION,
        name=workflow.name,
        workflow_definition=definition,
        workflow_configurations=WorkflowConfigurations.model_validate(configurations, context=STORED),
        template_context_variables=variables,
        tools=file_tools,
        documents=[AgentFileDocument(id=f"document-{at}", name=names[id_]) for at, id_ in enumerate(distinct, 1)],
        credentials=[AgentFileCredential(id=new, name=credential_names[ref]) for ref, new in credential_ids.items()],
        recordings=sorted(spoken - {""}),
        scenarios=scenarios,
        omitted=omitted,
    )


def _without_secrets_of_calls(scenarios: Sequence[JsonObject]) -> tuple[list[JsonObject], list[str]]:
    """Returns scenarios without secrets in what their calls begin with; what callers and tools say is made up."""
    kept, omitted = [], []
    for at, scenario in enumerate(scenarios):
        clean = dict(scenario)
        for key in ("context", "pre_call_fetch"):
            if key in scenario:
                clean[key], more = without_secrets(scenario[key], f"scenarios[{at}].{key}")
                omitted += more
        kept.append(clean)
    return kept, omitted


def _describe_tool(
    values: ReadableJsonObject, definition: JsonObject, credential_ids: Mapping[str, str]
) -> tuple[AgentFileTool, list[str]]:
    """Returns the tool without secrets, and the places of those that it had."""
    config = definition.get("config")
    if isinstance(config, dict):
        # a server's catalog is read again where the file is imported
        kept = {key: value for key, value in config.items() if key not in {"credential_uuid", "discovered_tools"}}
        credential = credential_ids.get(str(config.get("credential_uuid")))
        definition = {**definition, "config": {**kept, **({"credential_uuid": credential} if credential else {})}}
    shown, omitted = without_secrets(definition, str(values["id"]))
    return AgentFileTool.model_validate({**values, "definition": shown}), omitted
