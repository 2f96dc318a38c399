"""Creates an agent from a file: finds by name what it needs, creates its tools, and says what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.egress import UrlInvalid
from offhook.knowledge import service as knowledge
from offhook.models.errors import UnknownModel
from offhook.orgs import Caller, write_audit_entry
from offhook.recordings import service as recordings
from offhook.root import settings_of
from offhook.tools import service as tools
from offhook.tools.definitions import ToolDefinition, read_definition
from offhook.tools.hosts import host_of, is_host_allowed
from offhook.workflows import service
from offhook.workflows.agent_files.references import replace_in_scenarios, replace_references
from offhook.workflows.agent_files.schemas import AgentFile, AgentFileTool, ImportedPart
from offhook.workflows.definition import without_trigger_paths
from offhook.workflows.errors import AgentFileInvalid
from offhook.workflows.services import WorkflowServices
from offhook.workflows.tables import Workflow
from offhook.workflows.validation.turn_detector import lacks_turn_detector


@dataclass(slots=True)
class ImportedAgent:
    workflow: Workflow
    created_tools: list[str]
    missing: list[ImportedPart]


@dataclass(slots=True)
class _CredentialFinder:
    """The organization's credentials by their ids in the file. A file does not decide where a secret goes: only a
    credential that already goes to an address's host is linked to it."""

    by_file_id: Mapping[str, tools.CredentialFacts]
    names: Mapping[str, str]
    missing: dict[str, ImportedPart] = field(default_factory=dict)

    def find(self, file_id: str, url: str) -> str | None:
        name = self.names.get(file_id)
        credential = self.by_file_id.get(file_id)
        if name is None:
            return None
        if credential is None:
            self._note(name, "Add this credential and choose it.")
            return None
        try:
            host = host_of(url)
        except UrlInvalid:
            host = ""
        if not host or not is_host_allowed(credential.allowed_hosts, host):
            self._note(name, f"Choose this credential yourself: it is not sent to {host or 'this address'} yet.")
            return None
        return credential.uuid

    def _note(self, name: str, message: str) -> None:
        self.missing[name] = ImportedPart(kind="credential", name=name, message=message)


async def import_agent(
    session: AsyncSession, caller: Caller, file: AgentFile, services: WorkflowServices
) -> ImportedAgent:
    """Creates a draft agent. Raises AgentFileInvalid (422) for a tool that cannot be stored, and what the reader of
    scenarios raises."""
    organization_id = caller.organization_id
    # First of all: who waits for it has no connection to the database yet.
    scenarios = await services.read_scenarios(organization_id, file.scenarios)
    by_name = await tools.credentials_named(session, organization_id, {part.name for part in file.credentials})
    credentials = _CredentialFinder(
        {part.id: by_name[part.name] for part in file.credentials if part.name in by_name},
        {part.id: part.name for part in file.credentials},
    )
    tool_ids, created = await _bring_tools(session, caller, file, credentials)
    documents = await knowledge.documents_named(session, organization_id, {part.name for part in file.documents})
    missing = [
        ImportedPart(kind="document", name=part.name, message="Upload this document and choose it.")
        for part in file.documents
        if part.name not in documents
    ]
    known = await recordings.known_ids(session, organization_id, file.recordings)
    missing += [
        ImportedPart(kind="recording", name=name, message="Upload this recording, or type the text.")
        for name in file.recordings
        if name not in known
    ]
    document_ids = {part.id: documents[part.name] for part in file.documents if part.name in documents}
    definition = replace_references(
        without_trigger_paths(file.workflow_definition),
        tools=tool_ids,
        documents=document_ids,
        find_credential=credentials.find,
    )
    configurations = file.workflow_configurations.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    try:
        await services.configurations.check_override(session, organization_id, configurations)
    except UnknownModel as error:
        configurations.pop("models", None)
        for language in configurations.get("languages", ()):
            language.pop("models", None)
        missing.append(ImportedPart(kind="models", name="Models", message=f"{error.message} The defaults are used."))
    if lacks_turn_detector(configurations, settings_of(session)):
        del configurations["turn_detector"]
        message = "This server has none, so rules alone decide when a caller has finished."
        missing.append(ImportedPart(kind="models", name="Turn detector", message=message))
    missing += [ImportedPart(kind="value", name=place, message="Enter this secret again.") for place in file.omitted]
    workflow = await service.create_workflow(
        session,
        caller,
        file.name,
        definition,
        configurations=configurations,
        template_context_variables=file.template_context_variables,
        scenarios=replace_in_scenarios(scenarios, tools=tool_ids, documents=document_ids),
    )
    await write_audit_entry(session, caller, "workflow.imported", f"workflow:{workflow.id}", {"tools": created})
    return ImportedAgent(workflow, created, [*credentials.missing.values(), *missing])


async def _bring_tools(
    session: AsyncSession, caller: Caller, file: AgentFile, credentials: _CredentialFinder
) -> tuple[dict[str, str], list[str]]:
    """Returns the tools' ids by their ids in the file, and the names of those that were created. An active tool of the
    same name and category is used as it is."""
    ids: dict[str, str] = {}
    created: list[str] = []
    for part in file.tools:
        found = await tools.find_tool_named(session, caller.organization_id, part.name, part.category)
        if found is None:
            values = {"name": part.name, "description": part.description}
            found = await tools.create_tool(session, caller, values, _read_tool(part, credentials))
            created.append(part.name)
        ids[part.id] = str(found.tool_uuid)
    return ids, created


def _read_tool(part: AgentFileTool, credentials: _CredentialFinder) -> ToolDefinition:
    definition: dict[str, Any] = dict(part.definition)
    config = definition.get("config")
    if isinstance(config, dict) and config.get("credential_uuid"):
        found = credentials.find(str(config["credential_uuid"]), str(config.get("url") or ""))
        definition["config"] = {**config, "credential_uuid": found}
    try:
        read = read_definition(definition)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"][1:]) or "definition"
        raise AgentFileInvalid(f"The tool “{part.name}” in this file is invalid. {place}: {first['msg']}") from None
    if read.type != part.category:
        raise AgentFileInvalid(f"The tool “{part.name}” in this file is invalid: its type does not match its category.")
    return read
