"""Export and import of agents over HTTP."""

from fastapi import Response

from offhook.kit.database.database import Session
from offhook.kit.files.downloads import content_disposition
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.path_ids import Id
from offhook.kit.http.revisions import set_revision
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.workflows import service
from offhook.workflows.agent_files.exporting import export_agent
from offhook.workflows.agent_files.importing import import_agent
from offhook.workflows.agent_files.schemas import AgentFile, ImportWorkflowResponse
from offhook.workflows.schemas import WorkflowResponse
from offhook.workflows.services import Services

router = Router(prefix="/workflow", tags=["workflows"])


@router.get(
    "/{workflow_id}/export",
    response_model=AgentFile,
    response_model_exclude_unset=True,
    operation_id="export_workflow",
    openapi_extra=sdk_method("export_workflow", "Export an agent as a file without secrets."),
)
async def export_workflow(workflow_id: Id, org: CurrentOrg, session: Session, response: Response) -> AgentFile:
    """Returns the draft, or the published version if there is none, as a file. Tools and scenarios are in it; credentials, documents and
    recordings are named; secrets are left out and listed in `omitted`."""
    exported = await export_agent(session, org.organization_id, workflow_id)
    response.headers["Content-Disposition"] = content_disposition(f"{exported.name}.agent.json", kind="attachment")
    response.headers["Cache-Control"] = "no-store"
    return exported


@router.post(
    "/import",
    response_model=ImportWorkflowResponse,
    operation_id="import_workflow",
    openapi_extra=sdk_method("import_workflow", "Create an agent from an exported file."),
)
async def import_workflow(
    body: AgentFile, org: RequireMember, session: Session, services: Services, response: Response
) -> ImportWorkflowResponse:
    """Creates a draft from a file of `export_workflow`. Tools with the same name and category are reused, and others
    are created; credentials, documents and recordings are matched by name. `missing` lists what was not found, and
    secrets to enter. A credential is linked only to addresses that it is already sent to."""
    imported = await import_agent(session, org, body, services)
    view = await service.get_workflow_view(session, services.count_runs, org.organization_id, imported.workflow.id)
    set_revision(response, view.workflow.revision)
    return ImportWorkflowResponse(
        workflow=WorkflowResponse.from_view(view), created_tools=imported.created_tools, missing=imported.missing
    )
