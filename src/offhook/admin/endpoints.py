"""Superuser endpoints: views across organizations, and acting in a user's name."""

from typing import Annotated

from fastapi import Query, Response

from offhook.admin.schemas import (
    ImpersonatedUser,
    ImpersonateRequest,
    ImpersonateResponse,
    SuperuserCampaignItem,
    SuperuserOrganizationItem,
    SuperuserRunItem,
    SuperuserWorkflowItem,
    SuperuserWorkflowRunsListResponse,
)
from offhook.campaigns.reports import superuser_queries as campaigns
from offhook.kit.database.database import Session
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.routing import Router
from offhook.orgs import Now, RequireSuperuser
from offhook.orgs import superuser_queries as orgs
from offhook.orgs.sign_in import impersonation
from offhook.runs.lists import listing, run_count_queries
from offhook.runs.lists import superuser_queries as runs
from offhook.runs.lists.list_parameters import RunQueryParams
from offhook.runs.services import Links
from offhook.usage import queries as usage_queries
from offhook.workflows import service as workflow_service
from offhook.workflows import superuser_queries as workflows

router = Router(prefix="/superuser", tags=["superuser"])

OrganizationId = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only items of this organization")]

_CAMPAIGN_COLUMNS = tuple(SuperuserCampaignItem.model_fields.keys() - {"organization_name", "workflow_name"})


@router.get("/organizations", response_model=list[SuperuserOrganizationItem], operation_id="list_all_organizations")
async def list_organizations(
    caller: RequireSuperuser, session: Session, response: Response, part: SliceParams
) -> list[SuperuserOrganizationItem]:
    """Lists all organizations with their counts, oldest first; `X-Total-Count` is the total number."""
    found, total = await orgs.list_organizations(session, limit=part.limit, offset=part.offset)
    set_total(response, total)
    ids = [organization.id for organization, _ in found]
    workflow_counts = await workflows.count_by_organization(session, ids)
    run_counts = await run_count_queries.count_runs_by_organization(session)
    balances = await usage_queries.load_balances(session, ids)
    return [
        SuperuserOrganizationItem(
            id=organization.id,
            name=organization.name,
            created_at=organization.created_at,
            member_count=members,
            workflow_count=workflow_counts.get(organization.id, 0),
            run_count=run_counts.get(organization.id, 0),
            balance_cents=balances.get(organization.id, 0),
        )
        for organization, members in found
    ]


@router.get("/workflows", response_model=list[SuperuserWorkflowItem], operation_id="list_all_workflows")
async def list_workflows(
    caller: RequireSuperuser,
    session: Session,
    part: SliceParams,
    organization_id: OrganizationId = None,
    status: Annotated[str | None, Query(description="`active`, `archived` or both, separated by a comma")] = None,
) -> Response:
    """Newest first; `X-Total-Count` is the total number."""
    statuses = workflow_service.parse_statuses(status)
    rows, total = await workflows.list_workflows(
        session, organization_id, statuses, limit=part.limit, offset=part.offset
    )
    names = await orgs.names_by_id(session, {row.organization_id for row in rows})
    ids = [row.id for row in rows]
    if organization_id is None:
        by_workflow = await run_count_queries.count_runs_of_workflows(session, ids)
    else:
        by_workflow = await run_count_queries.count_runs_by_workflow(session, organization_id, ids)
    shown = SuperuserWorkflowItem.json_of(rows, names, by_workflow)
    answer = Response(shown, media_type="application/json")
    set_total(answer, total)
    return answer


@router.get("/campaigns", response_model=list[SuperuserCampaignItem], operation_id="list_all_campaigns")
async def list_campaigns(
    caller: RequireSuperuser,
    session: Session,
    response: Response,
    part: SliceParams,
    organization_id: OrganizationId = None,
) -> list[SuperuserCampaignItem]:
    """Newest first; `X-Total-Count` is the total number."""
    rows, total = await campaigns.list_all_campaigns(session, organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    names = await orgs.names_by_id(session, {row.organization_id for row in rows})
    workflow_names = await workflows.names_by_id(session, {row.workflow_id for row in rows})
    return [
        SuperuserCampaignItem(
            **{name: getattr(row, name) for name in _CAMPAIGN_COLUMNS},
            organization_name=names[row.organization_id],
            workflow_name=workflow_names.get(row.workflow_id, ""),
        )
        for row in rows
    ]


@router.get("/workflow-runs", response_model=SuperuserWorkflowRunsListResponse, operation_id="list_all_workflow_runs")
async def list_workflow_runs(
    caller: RequireSuperuser,
    session: Session,
    query: RunQueryParams,
    links: Links,
    response: Response,
) -> SuperuserWorkflowRunsListResponse:
    """The runs of all organizations, newest first unless sorted otherwise; `organization_id` filters too.

    Without it filters on `id` and `created_at` count 50000 runs at most, and others look at the newest 25000 (4000 for
    `context.<name>` and `gathered.<name>`); the header `X-Filter-Window` says so when there are more."""
    found = await runs.find_runs_across_organizations(session, query)
    rows, total = found.rows, found.total
    if found.window is not None:
        response.headers["X-Filter-Window"] = str(found.window)
    names = await orgs.names_by_id(session, {row.organization_id for row in rows})
    workflow_names = await workflows.names_by_id(session, {row.workflow_id for row in rows})
    shown = [
        listing.present_run(
            SuperuserRunItem,
            row,
            workflow_names.get(row.workflow_id, ""),
            links,
            organization_id=row.organization_id,
            organization_name=names[row.organization_id],
            user_id=row.created_by,
        )
        for row in rows
    ]
    return SuperuserWorkflowRunsListResponse(
        runs=shown,
        workflow_runs=shown,
        total_count=total,
        page=query.page.page,
        limit=query.page.limit,
        total_pages=query.page.total_pages(total),
    )


@router.post("/impersonate", response_model=ImpersonateResponse, operation_id="impersonate")
async def impersonate(
    body: ImpersonateRequest, caller: RequireSuperuser, session: Session, now: Now
) -> ImpersonateResponse:
    """Starts a one-hour session as another user. The audit log records both users, and the session cannot use superuser
    endpoints."""
    borrowed = await impersonation.start_impersonation(
        session,
        caller,
        impersonation.ImpersonationTarget(body.provider_user_id, body.user_id, body.email, body.organization_id),
        now,
    )
    user = ImpersonatedUser(
        id=borrowed.user.id,
        email=borrowed.user.email,
        name=borrowed.user.name,
        organization_id=borrowed.organization_id,
        role=borrowed.role,
        is_superuser=borrowed.user.is_superuser,
    )
    return ImpersonateResponse(
        access_token=borrowed.token, refresh_token=borrowed.token, expires_at=borrowed.expires_at, user=user
    )
