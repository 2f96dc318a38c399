"""Workflow generation by a language model over HTTP."""

from fastapi import Response

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.revisions import set_revision
from offhook.kit.http.routing import Router
from offhook.orgs import RequireMember
from offhook.workflows import service
from offhook.workflows.generation import generator
from offhook.workflows.generation.generator import AgentBrief
from offhook.workflows.schemas import CreateWorkflowTemplateRequest, WorkflowResponse
from offhook.workflows.services import Services

router = Router(prefix="/workflow", tags=["workflows"])


@router.post(
    "/create/template",
    response_model=WorkflowResponse,
    responses=error_responses(502, 504),
    operation_id="create_workflow_from_template",
)
async def create_workflow_from_template(
    body: CreateWorkflowTemplateRequest,
    response: Response,
    org: RequireMember,
    session: Session,
    services: Services,
) -> WorkflowResponse:
    """Creates a draft agent that the organization's language model writes from a description."""
    brief = AgentBrief(body.call_type, body.use_case, body.activity_description)
    # The model may take a minute: the session holds no connection before its first statement.
    chosen = await services.models.for_request(org.organization_id, "Agent from a description")
    definition = await generator.write_definition(chosen.llm[0], brief)
    workflow = await service.create_workflow(session, org, brief.workflow_name, definition)
    view = await service.get_workflow_view(session, services.count_runs, org.organization_id, workflow.id)
    set_revision(response, view.workflow.revision)
    return WorkflowResponse.from_view(view)
