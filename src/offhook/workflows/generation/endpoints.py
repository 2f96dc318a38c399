"""Workflow generation by a language model over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.revisions import set_revision
from offhook.models.ports import ModelSource
from offhook.orgs import RequireMember
from offhook.root import use_service
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
    response: Response,
    org: RequireMember,
    session: Session,
    models: Annotated[ModelSource, Depends(use_service(ModelSource))],
    runs: Annotated[RunCounter, Depends(use_service(RunCounter))],
) -> WorkflowResponse:
    """Creates a draft agent that the organization's language model writes from a description."""
    brief = AgentBrief(body.call_type, body.use_case, body.activity_description)
    # The model may take a minute: the session holds no connection before its first statement.
    chosen = await models.for_organization(org.organization_id, {})
    definition = await generator.write_definition(chosen.llm[0], brief)
    workflow = await service.create_workflow(session, org, brief.workflow_name, definition)
    view = await service.get_workflow_view(session, runs, org.organization_id, workflow.id)
    set_revision(response, view.workflow.revision)
    return WorkflowResponse.from_view(view)
