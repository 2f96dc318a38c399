"""Workflows and their versions over HTTP."""

from typing import Annotated

from fastapi import Path, Query, Response

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.kit.http.revisions import IfMatch, set_revision
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.root import settings_of
from offhook.workflows import lifecycle, publication, service
from offhook.workflows.changes import WorkflowChanges
from offhook.workflows.errors import TurnDetectorUnavailable
from offhook.workflows.schemas import (
    CreateDraftRequest,
    CreateWorkflowRequest,
    DeletedResponse,
    MoveWorkflowToFolderRequest,
    PublishWorkflowRequest,
    PublishWorkflowResponse,
    UpdateWorkflowRequest,
    UpdateWorkflowStatusRequest,
    ValidateWorkflowResponse,
    WorkflowCountResponse,
    WorkflowListResponse,
    WorkflowResponse,
    WorkflowSummaryResponse,
    WorkflowVersionResponse,
)
from offhook.workflows.services import Services, WorkflowServices
from offhook.workflows.validation.turn_detector import lacks_turn_detector

Status = Annotated[str | None, Query(description="`active`, `archived` or both, separated by a comma")]
Number = Annotated[Id, Path(description="Version number")]

router = Router(prefix="/workflow", tags=["workflows"])


@router.post(
    "/create/definition",
    response_model=WorkflowResponse,
    operation_id="create_workflow",
    openapi_extra=sdk_method("create_workflow", "Create a workflow from a definition."),
)
async def create_workflow(
    body: CreateWorkflowRequest, org: RequireMember, session: Session, services: Services, response: Response
) -> WorkflowResponse:
    """Creates a workflow. Its version 1 is a draft, which can be incomplete."""
    workflow = await service.create_workflow(session, org, body.name, body.workflow_definition)
    return await _workflow_response(session, services, org.organization_id, workflow.id, response)


@router.get("/count", response_model=WorkflowCountResponse, operation_id="count_workflows")
async def count_workflows(org: CurrentOrg, session: Session) -> WorkflowCountResponse:
    return WorkflowCountResponse.model_validate(await service.count_workflows(session, org.organization_id))


@router.get(
    "/fetch",
    response_model=list[WorkflowListResponse],
    operation_id="list_workflows",
    openapi_extra=sdk_method("list_workflows", "List the workflows of the organization."),
)
async def list_workflows(
    org: CurrentOrg, session: Session, services: Services, part: SliceParams, status: Status = None
) -> Response:
    """Lists workflows, newest first, without definitions. The `X-Total-Count` header holds the total count."""
    statuses = service.parse_statuses(status)
    rows, total = await service.list_workflows(
        session, services.count_runs, org.organization_id, statuses, limit=part.limit, offset=part.offset
    )
    response = Response(WorkflowListResponse.json_of(rows), media_type="application/json")
    set_total(response, total)
    return response


@router.get(
    "/fetch/{workflow_id}",
    response_model=WorkflowResponse,
    operation_id="get_workflow",
    openapi_extra=sdk_method("get_workflow", "Get one workflow, with its draft if there is one."),
)
async def get_workflow(
    workflow_id: Id, org: CurrentOrg, session: Session, services: Services, response: Response
) -> WorkflowResponse:
    """Returns a workflow with the content of its draft or, without a draft, of its published version."""
    return await _workflow_response(session, services, org.organization_id, workflow_id, response)


@router.get("/summary", response_model=list[WorkflowSummaryResponse], operation_id="summarize_workflows")
async def summarize_workflows(org: CurrentOrg, session: Session, part: SliceParams, status: Status = None) -> Response:
    """Lists ids and names, newest first. The `X-Total-Count` header holds the total count."""
    statuses = service.parse_statuses(status)
    rows, total = await service.list_names(session, org.organization_id, statuses, limit=part.limit, offset=part.offset)
    response = Response(WorkflowSummaryResponse.json_of(rows), media_type="application/json")
    set_total(response, total)
    return response


@router.put(
    "/{workflow_id}",
    response_model=WorkflowResponse,
    operation_id="update_workflow",
    openapi_extra=sdk_method("update_workflow", "Change a name, or save a new draft."),
)
async def update_workflow(
    workflow_id: Id,
    body: UpdateWorkflowRequest,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
) -> WorkflowResponse:
    """Changes the name immediately and saves everything else as the draft. With `expected_revision` or `If-Match`,
    returns 409 if the workflow was changed since it was read."""
    expected = if_match if body.expected_revision is None else body.expected_revision
    await _check_configurations(session, services, org.organization_id, body.to_changes())
    await service.update_workflow(session, org, workflow_id, body.to_changes(), expected_revision=expected)
    return await _workflow_response(session, services, org.organization_id, workflow_id, response)


@router.put("/{workflow_id}/status", response_model=WorkflowResponse, operation_id="update_workflow_status")
async def update_workflow_status(
    workflow_id: Id,
    body: UpdateWorkflowStatusRequest,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
) -> WorkflowResponse:
    """Archives or activates a workflow. Archived workflows accept no triggers, calls or campaigns."""
    await service.set_status(session, org, workflow_id, body.status)
    return await _workflow_response(session, services, org.organization_id, workflow_id, response)


@router.put("/{workflow_id}/folder", response_model=WorkflowListResponse, operation_id="move_workflow_to_folder")
async def move_workflow_to_folder(
    workflow_id: Id, body: MoveWorkflowToFolderRequest, org: RequireMember, session: Session, services: Services
) -> WorkflowListResponse:
    await service.move_to_folder(session, org, workflow_id, body.folder_id)
    return WorkflowListResponse.from_view(
        await service.get_workflow_view(session, services.count_runs, org.organization_id, workflow_id)
    )


@router.post("/{workflow_id}/duplicate", response_model=WorkflowResponse, operation_id="duplicate_workflow")
async def duplicate_workflow(
    workflow_id: Id, org: RequireMember, session: Session, services: Services, response: Response
) -> WorkflowResponse:
    """Creates a draft copy with the definition, configuration, recordings and triggers, which get new URLs."""
    copy = await lifecycle.duplicate_workflow(session, services.hooks, org, workflow_id)
    return await _workflow_response(session, services, org.organization_id, copy.id, response)


@router.delete(
    "/{workflow_id}",
    response_model=DeletedResponse,
    operation_id="delete_workflow",
    openapi_extra=sdk_method("delete_workflow", "Permanently delete a workflow and its runs."),
)
async def delete_workflow(workflow_id: Id, org: RequireMember, session: Session, services: Services) -> DeletedResponse:
    """Permanently deletes a workflow with its versions and runs. Returns 409 while a run is live or a campaign uses it. With
    runs it requires the admin role."""
    await lifecycle.delete_workflow(session, services.hooks, org, workflow_id)
    return DeletedResponse(id=workflow_id)


@router.post("/{workflow_id}/create-draft", response_model=WorkflowVersionResponse, operation_id="create_draft")
async def create_draft(
    workflow_id: Id,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
    body: CreateDraftRequest | None = None,
) -> WorkflowVersionResponse:
    """Saves the draft. Without a body, returns the draft, or creates it from the published version. `expected_revision`
    and `If-Match` work as in `update_workflow`."""
    changes = body.to_changes() if body else WorkflowChanges()
    expected = if_match if body is None or body.expected_revision is None else body.expected_revision
    await _check_configurations(session, services, org.organization_id, changes)
    draft, revision = await service.create_draft(session, org, workflow_id, changes, expected_revision=expected)
    set_revision(response, revision)
    return WorkflowVersionResponse.from_version(draft)


@router.post("/{workflow_id}/publish", response_model=PublishWorkflowResponse, operation_id="publish_workflow")
async def publish_workflow(
    workflow_id: Id,
    org: RequireMember,
    session: Session,
    services: Services,
    response: Response,
    if_match: IfMatch,
    body: PublishWorkflowRequest | None = None,
) -> PublishWorkflowResponse:
    """Validates the draft and makes it the version that takes calls. Of two simultaneous requests, one gets 409. A
    `note` that
    says what changed is kept with the version. An agent with a publish gate returns 409 (`publish_not_tested`,
    `publish_gate_failed`) until its scenarios pass with exactly this draft, or an admin gives a reason in `gate_override`."""
    version, revision = await publication.publish_draft(
        session,
        services.tools,
        org,
        workflow_id,
        models=services.configurations,
        expected_revision=if_match,
        request=publication.PublishRequest(
            note=body.note if body else None,
            checks=services.hooks.publish_checks,
            override_reason=body.gate_override if body else None,
        ),
    )
    set_revision(response, revision)
    return PublishWorkflowResponse.model_validate(version)


@router.post("/{workflow_id}/validate", response_model=ValidateWorkflowResponse, operation_id="validate_workflow")
async def validate_workflow(
    workflow_id: Id, org: CurrentOrg, session: Session, services: Services
) -> ValidateWorkflowResponse:
    """Validates the draft, or the published version if there is no draft, and analyzes its graph. Only `errors`
    prevent publishing."""
    check = await publication.check_current(
        session, services.tools, services.configurations, org.organization_id, workflow_id
    )
    return ValidateWorkflowResponse.from_check(check)


@router.get(
    "/{workflow_id}/versions", response_model=list[WorkflowVersionResponse], operation_id="list_workflow_versions"
)
async def list_workflow_versions(
    workflow_id: Id, org: CurrentOrg, session: Session, response: Response, part: SliceParams
) -> list[WorkflowVersionResponse]:
    """Lists versions, newest first; all of them without `limit`. `author` is the member who started the version."""
    rows, total = await service.list_versions(
        session, org.organization_id, workflow_id, limit=part.limit, offset=part.offset
    )
    set_total(response, total)
    authors = await service.authors_of(session, org.organization_id, rows)
    return [WorkflowVersionResponse.from_version(row, authors.get(row.id)) for row in rows]


@router.post(
    "/{workflow_id}/versions/{number}/restore",
    response_model=WorkflowVersionResponse,
    operation_id="restore_workflow_version",
)
async def restore_workflow_version(
    workflow_id: Id, number: Number, org: RequireMember, session: Session
) -> WorkflowVersionResponse:
    """Copies an earlier version into the draft."""
    return WorkflowVersionResponse.from_version(await service.restore_version(session, org, workflow_id, number))


async def _workflow_response(
    session: Session, services: WorkflowServices, organization_id: int, workflow_id: int, response: Response
) -> WorkflowResponse:
    shown = WorkflowResponse.from_view(
        await service.get_workflow_view(session, services.count_runs, organization_id, workflow_id)
    )
    set_revision(response, shown.revision)
    return shown


async def _check_configurations(
    session: Session, services: WorkflowServices, organization_id: int, changes: WorkflowChanges
) -> None:
    """Raises UnknownModel or TurnDetectorUnavailable (422) for what calls of this installation cannot have."""
    await services.configurations.check_override(session, organization_id, changes.configurations)
    if lacks_turn_detector(changes.configurations or {}, settings_of(session)):
        raise TurnDetectorUnavailable(field="turn_detector")
