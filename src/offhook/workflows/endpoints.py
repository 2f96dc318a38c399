"""Workflows, their versions and the kinds of nodes over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from offhook.kit.db import Session
from offhook.kit.ids import Id
from offhook.kit.pagination import SliceParams, set_total
from offhook.orgs import CurrentOrg, RequireMember
from offhook.root import use
from offhook.workflows import publishing, service
from offhook.workflows.errors import NodeTypeNotFound
from offhook.workflows.nodes import KINDS
from offhook.workflows.nodes.spec import SPEC_VERSION, NodeSpec, NodeTypesResponse
from offhook.workflows.ports import RunCounter, ToolCatalogue
from offhook.workflows.schemas import (
    CreateDraftRequest,
    CreateWorkflowRequest,
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
from offhook.workflows.service import Changes

Runs = Annotated[RunCounter, Depends(use(RunCounter))]
Tools = Annotated[ToolCatalogue, Depends(use(ToolCatalogue))]
Status = Annotated[str | None, Query(description="`active`, `archived` or both, separated by a comma")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the version")]

workflows = APIRouter(prefix="/workflow", tags=["workflows"])
node_types = APIRouter(prefix="/node-types", tags=["workflows"])


@node_types.get("", response_model=NodeTypesResponse, response_model_exclude_none=True, operation_id="list_node_types")
async def list_node_types(org: CurrentOrg) -> NodeTypesResponse:
    return NodeTypesResponse(spec_version=SPEC_VERSION, node_types=[kind.spec for kind in KINDS.values()])


@node_types.get("/{name}", response_model=NodeSpec, response_model_exclude_none=True, operation_id="get_node_type")
async def get_node_type(name: str, org: CurrentOrg) -> NodeSpec:
    if name not in KINDS:
        raise NodeTypeNotFound
    return KINDS[name].spec


@workflows.post("/create/definition", response_model=WorkflowResponse, operation_id="create_workflow")
async def create_workflow(
    body: CreateWorkflowRequest, org: RequireMember, session: Session, runs: Runs
) -> WorkflowResponse:
    """Creates a workflow whose version 1 is a draft; incomplete is fine."""
    workflow = await service.create(session, org, body.name, body.workflow_definition)
    return await _response(session, runs, org.organization_id, workflow.id)


@workflows.get("/count", response_model=WorkflowCountResponse, operation_id="count_workflows")
async def count_workflows(org: CurrentOrg, session: Session) -> WorkflowCountResponse:
    return WorkflowCountResponse.model_validate(await service.counts(session, org.organization_id))


@workflows.get("/fetch", response_model=list[WorkflowListResponse], operation_id="list_workflows")
async def list_workflows(
    org: CurrentOrg, session: Session, runs: Runs, response: Response, part: SliceParams, status: Status = None
) -> list[WorkflowListResponse]:
    """Newest first, without definitions; `X-Total-Count` is the length of the whole list."""
    statuses = service.parse_statuses(status)
    rows, total = await service.listing(
        session, runs, org.organization_id, statuses, limit=part.limit, offset=part.offset
    )
    set_total(response, total)
    return [WorkflowListResponse.of(row) for row in rows]


@workflows.get("/fetch/{workflow_id}", response_model=WorkflowResponse, operation_id="get_workflow")
async def get_workflow(workflow_id: Id, org: CurrentOrg, session: Session, runs: Runs) -> WorkflowResponse:
    """With the draft's content if there is a draft, else with the published version's."""
    return await _response(session, runs, org.organization_id, workflow_id)


@workflows.get("/summary", response_model=list[WorkflowSummaryResponse], operation_id="summarize_workflows")
async def summarize_workflows(
    org: CurrentOrg, session: Session, status: Status = None
) -> list[WorkflowSummaryResponse]:
    rows = await service.names(session, org.organization_id, service.parse_statuses(status))
    return [WorkflowSummaryResponse.model_validate(row) for row in rows]


@workflows.put("/{workflow_id}", response_model=WorkflowResponse, operation_id="update_workflow")
async def update_workflow(
    workflow_id: Id, body: UpdateWorkflowRequest, org: RequireMember, session: Session, runs: Runs
) -> WorkflowResponse:
    """A name takes effect at once; everything else is saved as the draft."""
    await service.update(session, org, workflow_id, body.changes())
    return await _response(session, runs, org.organization_id, workflow_id)


@workflows.put("/{workflow_id}/status", response_model=WorkflowResponse, operation_id="update_workflow_status")
async def update_workflow_status(
    workflow_id: Id, body: UpdateWorkflowStatusRequest, org: RequireMember, session: Session, runs: Runs
) -> WorkflowResponse:
    await service.set_status(session, org, workflow_id, body.status)
    return await _response(session, runs, org.organization_id, workflow_id)


@workflows.post("/{workflow_id}/create-draft", response_model=WorkflowVersionResponse, operation_id="create_draft")
async def create_draft(
    workflow_id: Id, org: RequireMember, session: Session, body: CreateDraftRequest | None = None
) -> WorkflowVersionResponse:
    """Without a body: the draft, made from the published version when there is none."""
    changes = body.changes() if body else Changes()
    return WorkflowVersionResponse.of(await service.create_draft(session, org, workflow_id, changes))


@workflows.post("/{workflow_id}/publish", response_model=PublishWorkflowResponse, operation_id="publish_workflow")
async def publish_workflow(
    workflow_id: Id, org: RequireMember, session: Session, tools: Tools
) -> PublishWorkflowResponse:
    """Validates the draft in full and makes it the version that answers calls."""
    return PublishWorkflowResponse.of(await publishing.publish(session, tools, org, workflow_id))


@workflows.post("/{workflow_id}/validate", response_model=ValidateWorkflowResponse, operation_id="validate_workflow")
async def validate_workflow(
    workflow_id: Id, org: CurrentOrg, session: Session, tools: Tools
) -> ValidateWorkflowResponse:
    report = await publishing.validate_shown(session, tools, org.organization_id, workflow_id)
    return ValidateWorkflowResponse.of(report)


@workflows.get(
    "/{workflow_id}/versions", response_model=list[WorkflowVersionResponse], operation_id="list_workflow_versions"
)
async def list_workflow_versions(
    workflow_id: Id, org: CurrentOrg, session: Session, response: Response, part: SliceParams
) -> list[WorkflowVersionResponse]:
    """Newest first; without `limit`, every version."""
    rows, total = await service.versions(
        session, org.organization_id, workflow_id, limit=part.limit, offset=part.offset
    )
    set_total(response, total)
    return [WorkflowVersionResponse.of(row) for row in rows]


@workflows.post(
    "/{workflow_id}/versions/{number}/restore",
    response_model=WorkflowVersionResponse,
    operation_id="restore_workflow_version",
)
async def restore_workflow_version(
    workflow_id: Id, number: Number, org: RequireMember, session: Session
) -> WorkflowVersionResponse:
    """Copies an old version into the draft."""
    return WorkflowVersionResponse.of(await service.restore(session, org, workflow_id, number))


async def _response(session: Session, runs: RunCounter, organization_id: int, workflow_id: int) -> WorkflowResponse:
    return WorkflowResponse.of(await service.view(session, runs, organization_id, workflow_id))
