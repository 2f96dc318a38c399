"""The template catalog over HTTP."""

from typing import Annotated

from fastapi import Path, Response

from offhook.kit.database.database import Session
from offhook.kit.http.revisions import set_revision
from offhook.kit.http.routing import Router
from offhook.knowledge.services import Services as KnowledgeServices
from offhook.orgs import CurrentOrg, RequireMember
from offhook.workflows import service
from offhook.workflows.catalog import creation
from offhook.workflows.catalog.schemas import CreateFromTemplateRequest, TemplateResponse
from offhook.workflows.catalog.templates import find_template, list_templates
from offhook.workflows.errors import TemplateNotFound
from offhook.workflows.schemas import WorkflowResponse
from offhook.workflows.services import Services

router = Router(prefix="/workflow", tags=["workflows"])


@router.get("/templates", response_model=list[TemplateResponse], operation_id="list_workflow_templates")
async def list_workflow_templates(org: CurrentOrg) -> list[TemplateResponse]:
    """Lists the agents to start from, in the order of the gallery."""
    return [TemplateResponse.from_template(template) for template in list_templates()]


@router.post(
    "/templates/{template_id}/create", response_model=WorkflowResponse, operation_id="create_workflow_from_catalog"
)
async def create_workflow_from_catalog(
    template_id: Annotated[str, Path(max_length=64, description="`id` of a listed template")],
    org: RequireMember,
    session: Session,
    services: Services,
    knowledge: KnowledgeServices,
    response: Response,
    body: CreateFromTemplateRequest | None = None,
) -> WorkflowResponse:
    """Creates a draft agent from a template. Its documents are added to the knowledge base and its tools to the tools of
    the organization, unless they are there already."""
    template = find_template(template_id)
    if template is None:
        raise TemplateNotFound
    name = (body.name if body else None) or template.card.agent_name
    # The session holds no connection before its first statement: none is held while files are stored.
    documents = await creation.store_documents(knowledge.intake, org.organization_id, template)
    workflow = await creation.create_agent(session, org, template, name, documents)
    view = await service.get_workflow_view(session, services.count_runs, org.organization_id, workflow.id)
    set_revision(response, view.workflow.revision)
    return WorkflowResponse.from_view(view)
