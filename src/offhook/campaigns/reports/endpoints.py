"""Looking at a campaign over HTTP: progress, live or not, calls, contacts, the report and the file it came from."""

from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from offhook.campaigns import repository, service
from offhook.campaigns.errors import ContactFileNotFound
from offhook.campaigns.intake.contact_files import LINK_TTL_S, ContactFiles, original_file_name
from offhook.campaigns.intake.preflight import CampaignPreflight
from offhook.campaigns.reports.dial_blockers import WhyNotNow
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.reports.progress_streams import ProgressStreams, format_sse
from offhook.campaigns.reports.report import open_report
from offhook.campaigns.reports.report_period import parse_period
from offhook.campaigns.reports.timeline import load_timeline
from offhook.campaigns.schemas import (
    ContactItem,
    ContactList,
    Outcome,
    PreflightResponse,
    ProgressRecord,
    SourceDownloadUrl,
    TimelineResponse,
    WhyNotNowResponse,
)
from offhook.campaigns.service import CampaignService
from offhook.kit.database.database import Database, Session
from offhook.kit.files.csv_downloads import MEDIA_TYPE, csv_response
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import Id, LongId
from offhook.orgs import CurrentOrg, Now
from offhook.root import base_url, database_of, use_service
from offhook.runs.artifacts.links import RunLinks, links_of
from offhook.runs.lists.list_parameters import RunQueryParams, as_page
from offhook.runs.lists.listing import page_of_runs, present_run
from offhook.runs.schemas import RunList
from offhook.workflows import service as workflows

router = APIRouter(prefix="/campaign/{campaign_id}", tags=["campaigns"])

DatabaseDep = Annotated[Database, Depends(database_of)]
RunLinksDep = Annotated[RunLinks, Depends(links_of)]
PresenterDep = Annotated[CampaignPresenter, Depends(use_service(CampaignPresenter))]
Time = Annotated[str | None, Query(max_length=64, description="ISO 8601; a plain day counts whole")]
State = Literal["pending", "calling", "done"]


@router.get("/progress", response_model=ProgressRecord, operation_id="get_campaign_progress")
async def get_campaign_progress(
    campaign_id: Id, org: CurrentOrg, session: Session, views: PresenterDep
) -> dict[str, Any]:
    """Counted from the contacts themselves, now."""
    return await views.present_progress(session, await service.get_campaign(session, org.organization_id, campaign_id))


@router.get(
    "/progress/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
    operation_id="stream_campaign_progress",
)
async def stream_campaign_progress(
    campaign_id: Id,
    org: CurrentOrg,
    db: DatabaseDep,
    streams: Annotated[ProgressStreams, Depends(use_service(ProgressStreams))],
) -> StreamingResponse:
    """Server-sent events: `progress` with the progress record at once and whenever it changes, until the campaign is over
    and its last call has ended (event `ended`)."""
    async with db.transaction() as session:
        await service.get_campaign(session, org.organization_id, campaign_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    body = format_sse(streams.follow(org.organization_id, campaign_id))
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


@router.get("/timeline", response_model=TimelineResponse, operation_id="get_campaign_timeline")
async def get_campaign_timeline(campaign_id: Id, org: CurrentOrg, session: Session) -> dict[str, Any]:
    """What became of the contacts over time, in at most some sixty steps; a contact that is called again counts once,
    when it is done."""
    await service.get_campaign(session, org.organization_id, campaign_id)
    return await load_timeline(session, org.organization_id, campaign_id)


@router.get("/runs", response_model=RunList, operation_id="list_campaign_runs")
async def list_campaign_runs(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    query: RunQueryParams,
    links: RunLinksDep,
) -> dict[str, Any]:
    """The campaign's calls, the newest first unless sorted otherwise; filtered as every list of runs is."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    workflow_id = campaign.workflow_id
    names = await workflows.names_of(session, org.organization_id, [workflow_id])
    found = await page_of_runs(session, org.organization_id, query, workflow_id=workflow_id, campaign_id=campaign_id)
    return as_page(query, [present_run(row, names.get(workflow_id, ""), links) for row in found.rows], found.total)


@router.get("/preflight", response_model=PreflightResponse, operation_id="check_campaign_before_start")
async def check_campaign_before_start(
    campaign_id: Id, org: CurrentOrg, preflight: Annotated[CampaignPreflight, Depends(use_service(CampaignPreflight))]
) -> dict[str, Any]:
    """What a start would do now: contacts by zone, closed now, on the do-not-call list, without a value for a variable
    that the agent uses, and how long it takes."""
    return await preflight.build_report(org.organization_id, campaign_id)


@router.get("/source-download-url", response_model=SourceDownloadUrl, operation_id="get_campaign_source_url")
async def get_campaign_source_url(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    request: Request,
    now: Now,
    files: Annotated[ContactFiles, Depends(use_service(ContactFiles))],
) -> dict[str, Any]:
    """A link to the CSV as it was uploaded, valid for a quarter of an hour."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    if campaign.contacts_file_key is None:
        raise ContactFileNotFound
    token = files.download_token(org.organization_id, campaign.contacts_file_key)
    url = f"{base_url(request)}/api/v1/s3/files/{token}"
    return {
        "download_url": url,
        "url": url,
        "file_name": original_file_name(campaign.contacts_file_key),
        "expires_in": LINK_TTL_S,
        "expires_at": now + timedelta(seconds=LINK_TTL_S),
    }


@router.get(
    "/report",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE.partition(";")[0]: {}}, "description": "CSV"}},
    operation_id="download_campaign_report",
)
async def download_campaign_report(
    campaign_id: Id,
    org: CurrentOrg,
    db: DatabaseDep,
    links: RunLinksDep,
    start_date: Time = None,
    end_date: Time = None,
) -> StreamingResponse:
    """A row for each call, in the order of the file, with the file's columns and one for each extracted variable."""
    asked = parse_period(start_date, end_date)
    made = await open_report(db, links, org.organization_id, campaign_id, asked)
    return await csv_response(f"campaign_{campaign_id}_report.csv", made.header, made.stream_rows())


@router.get("/contacts", response_model=ContactList, operation_id="list_campaign_contacts")
async def list_campaign_contacts(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    page: PageParams,
    state: Annotated[list[State] | None, Query(description="Several times: any of them")] = None,
    outcome: Annotated[list[Outcome] | None, Query(description="Several times: any of them")] = None,
) -> dict[str, Any]:
    """In the order of the file."""
    await service.get_campaign(session, org.organization_id, campaign_id)
    rows, total = await repository.list_contacts(
        session,
        org.organization_id,
        campaign_id,
        states=state or (),
        outcomes=outcome or (),
        limit=page.limit,
        offset=page.offset,
    )
    return {
        "contacts": [ContactItem.model_validate(row) for row in rows],
        "total_count": total,
        "page": page.page,
        "limit": page.limit,
        "total_pages": page.total_pages(total),
    }


@router.get(
    "/contacts/{contact_id}/why-not-now", response_model=WhyNotNowResponse, operation_id="explain_campaign_contact"
)
async def explain_campaign_contact(
    campaign_id: Id,
    contact_id: LongId,
    org: CurrentOrg,
    campaigns: Annotated[CampaignService, Depends(use_service(CampaignService))],
) -> WhyNotNow:
    """The rule that holds a contact back just now, in words, and until when if that is known."""
    return await campaigns.why_not_now(org.organization_id, campaign_id, contact_id)
