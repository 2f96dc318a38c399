"""Canaries over HTTP."""

from dataclasses import replace

from offhook.canary import service
from offhook.canary.schemas import CanaryResponse, ChangeCanaryRequest, EndCanaryRequest, StartCanaryRequest
from offhook.kit.database.database import Session
from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.path_ids import Id
from offhook.kit.http.revisions import IfMatch
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, Now, RequireMember
from offhook.workflows.canaries import service as canaries
from offhook.workflows.canaries.service import CanaryPlan
from offhook.workflows.services import Services

router = Router(prefix="/workflow/{workflow_id}/canary", tags=["canaries"])


@router.post(
    "",
    response_model=CanaryResponse,
    operation_id="start_canary",
    openapi_extra=sdk_method("start_canary", "Let the draft take a share of calls first."),
)
async def start_canary(
    workflow_id: Id,
    org: RequireMember,
    session: Session,
    services: Services,
    now: Now,
    if_match: IfMatch,
    body: StartCanaryRequest | None = None,
) -> CanaryResponse:
    """Sends a share of calls to the draft, which is checked as by `publish_workflow`. It is rolled forward or back
    depending on how its calls go. Returns 409 while another canary is running (`canary_running`), without a draft
    (`canary_needs_draft`) and without a published version (`canary_needs_published`)."""
    asked = body or StartCanaryRequest()
    canary = await canaries.start_canary(
        session,
        services.tools,
        org,
        workflow_id,
        CanaryPlan(asked.share, asked.to_settings(), now),
        models=services.configurations,
        expected_revision=if_match,
        request=replace(asked.to_publish_request(), checks=services.hooks.publish_checks),
    )
    return CanaryResponse.from_canary(canary)


@router.get("", response_model=CanaryResponse | None, operation_id="get_canary")
async def get_canary(workflow_id: Id, org: CurrentOrg, session: Session) -> CanaryResponse | None:
    """Returns the running canary, or the last one, with its evidence; null if there was none."""
    found = await canaries.find_latest(session, org.organization_id, workflow_id)
    return CanaryResponse.from_canary(found) if found is not None else None


@router.put("", response_model=CanaryResponse, operation_id="change_canary")
async def change_canary(
    workflow_id: Id, body: ChangeCanaryRequest, org: RequireMember, session: Session
) -> CanaryResponse:
    """Changes the share. Callers who get the new version keep it when the share grows. Returns 409 after the canary
    has ended
    (`canary_not_running`)."""
    return CanaryResponse.from_canary(await canaries.change_share(session, org, workflow_id, body.share))


@router.post("/end", response_model=CanaryResponse, operation_id="end_canary")
async def end_canary(
    workflow_id: Id, body: EndCanaryRequest, org: RequireMember, session: Session, now: Now
) -> CanaryResponse:
    """Rolls the canary forward or back by hand. Calls in progress keep their version. Returns 409 after the canary
    has ended
    (`canary_not_running`)."""
    ended = await service.end_by_hand(session, org, workflow_id, body.decision, body.reason, now)
    return CanaryResponse.from_canary(ended)
