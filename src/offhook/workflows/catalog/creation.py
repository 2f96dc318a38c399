"""Creates an agent from a template, with its documents and tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.knowledge import service as knowledge
from offhook.knowledge.uploads import DocumentIntake, StoredFile
from offhook.orgs import Caller
from offhook.tools import service as tools
from offhook.workflows import service
from offhook.workflows.catalog.templates import AgentTemplate, TemplateDocument, definition_with
from offhook.workflows.tables import Workflow


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a template whose bytes are in the storage."""

    document: TemplateDocument
    stored: StoredFile


async def store_documents(
    intake: DocumentIntake, organization_id: int, template: AgentTemplate
) -> list[StoredDocument]:
    """Stores the documents' bytes. No transaction is open while it does so."""
    return [
        StoredDocument(
            document, await intake.store_upload(organization_id, BytesIO(document.content), document.filename)
        )
        for document in template.documents
    ]


async def create_agent(
    session: AsyncSession, caller: Caller, template: AgentTemplate, name: str, documents: Sequence[StoredDocument]
) -> Workflow:
    """Creates a draft agent. What an earlier agent of this template brought along is used again."""
    document_ids = []
    for each in documents:
        row = await knowledge.find_or_create_document(
            session, caller, each.stored, name=each.document.name, filename=each.document.filename
        )
        document_ids.append(str(row[0].id))
    tool_ids = {}
    for tool in template.card.tools:
        values = {"name": tool.name, "description": tool.description}
        found = await tools.find_or_create_tool(session, caller, values, tool.definition)
        tool_ids[tool.id] = str(found.tool_uuid)
    definition = definition_with(template, document_ids=document_ids, tool_ids=tool_ids)
    return await service.create_workflow(
        session, caller, name, definition, configurations=template.configurations, scenarios=template.scenarios
    )
