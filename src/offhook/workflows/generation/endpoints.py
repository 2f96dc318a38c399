"""A workflow that a language model writes, over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from offhook.kit.http.openapi import error_responses
from offhook.kit.http.revisions import set_revision
from offhook.models.ports import ModelSource
from offhook.orgs import RequireMember
from offhook.root import Root, use_service
from offhook.workflows import service
from offhook.workflows.generation import generator
from offhook.workflows.generation.generator import AgentBrief
from offhook.workflows.ports import RunCounter
from offhook.workflows.schemas import CreateWorkflowTemplateRequest, WorkflowResponse

router = APIRouter(prefix="/workflow", tags=["workflows"])


@router.post(
    "/create/template",
    response_model=WorkflowResponse,
    responses=error_responses(502, 504),
    operation_id="create_workflow_from_template",
)
async def create_workflow_from_template(
    body: CreateWorkflowTemplateRequest,
    request: Request,
    response: Response,
    org: RequireMember,
    models: Annotated[ModelSource, Depends(use_service(ModelSource))],
) -> WorkflowResponse:
    """The organization's language model writes an agent from its description; it is created as a draft."""
    root: Root = request.app.state.root
    brief = AgentBrief(body.call_type, body.use_case, body.activity_description)
    # no transaction is open while the model writes, which may take a minute
    chosen = await models.for_organization(org.organization_id, {})
    definition = await generator.write_definition(chosen.llm[0], brief)
    async with root.db.transaction() as session:
        workflow = await service.create_workflow(session, org, brief.workflow_name, definition)
        view = await service.get_workflow_view(session, root.get(RunCounter), org.organization_id, workflow.id)  # type: ignore[type-abstract]  # found by its port
    set_revision(response, view.workflow.revision)
    return WorkflowResponse.from_view(view)
