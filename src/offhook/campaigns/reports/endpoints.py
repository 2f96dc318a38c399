"""A campaign's progress, calls, contacts, report and source file over HTTP."""

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import StreamingResponse

from offhook.campaigns import repository, service
from offhook.campaigns.errors import ContactFileNotFound
from offhook.campaigns.intake.contact_files import LINK_TTL_S, original_file_name
from offhook.campaigns.reports.dial_blockers import WhyNotNow
from offhook.campaigns.reports.report_period import parse_period
from offhook.campaigns.reports.result_queries import ids_with_result
from offhook.campaigns.reports.results import load_campaign_results, present_contacts
from offhook.campaigns.reports.timeline import load_timeline
from offhook.campaigns.schemas import (
    CampaignResultsResponse,
    ContactList,
    Outcome,
    PreflightResponse,
    ProgressRecord,
    SourceDownloadUrl,
    TimelineResponse,
    WhyNotNowResponse,
)
from offhook.campaigns.services import Services
from offhook.kit.database.database import Session
from offhook.kit.files.csv_downloads import MEDIA_TYPE, csv_response
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.kit.http.turns.departures import end_with_client
from offhook.orgs import CurrentOrg, Now, ReadTransaction, end_with_credential
from offhook.root import base_url
from offhook.runs.lists.list_parameters import RunQueryParams, as_page
from offhook.runs.lists.listing import page_of_runs, present_run
from offhook.runs.schemas import RunList, RunRecord
from offhook.runs.services import Links
from offhook.workflows import service as workflows
from offhook.workflows.results.definitions import ResultName

router = Router(prefix="/campaign/{campaign_id}", tags=["campaigns"])

Time = Annotated[str | None, Query(max_length=64, description="ISO 8601; a plain date covers the entire day")]
State = Literal["pending", "calling", "done"]


@router.get("/progress", response_model=ProgressRecord, operation_id="get_campaign_progress")
async def get_campaign_progress(
    campaign_id: Id, org: CurrentOrg, session: Session, services: Services
) -> ProgressRecord:
    """Returns the campaign's progress, counted from its contacts."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    return await services.presenter.present_progress(session, campaign)


@router.get(
    "/progress/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
    operation_id="stream_campaign_progress",
)
async def stream_campaign_progress(
    campaign_id: Id, request: Request, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> StreamingResponse:
    """Streams server-sent events: `progress` immediately and on every change, then `ended` once the campaign and its
    last call have ended. A stream that stops without `ended` reached its 15 minutes, or its credential expired: open
    it again."""
    progress = await services.streams.open_event_stream(org.organization_id, campaign_id)
    body = end_with_credential(request, org, progress)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


@router.get("/timeline", response_model=TimelineResponse, operation_id="get_campaign_timeline")
async def get_campaign_timeline(campaign_id: Id, org: CurrentOrg, session: Session) -> TimelineResponse:
    """Returns contacts by outcome over time, in at most about 60 steps. A contact that is called again counts once,
    when it is done."""
    await service.get_campaign(session, org.organization_id, campaign_id)
    return await load_timeline(session, org.organization_id, campaign_id)


@router.get("/results", response_model=CampaignResultsResponse, operation_id="get_campaign_results")
async def get_campaign_results(campaign_id: Id, org: CurrentOrg, session: Session) -> CampaignResultsResponse:
    """Returns contacts by result, as the agent's settings define results (`call_analysis`)."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    return await load_campaign_results(session, campaign)


@router.get("/runs", response_model=RunList, operation_id="list_campaign_runs")
async def list_campaign_runs(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    query: RunQueryParams,
    links: Links,
) -> RunList:
    """Lists the campaign's calls, newest first by default, with the filters of every list of runs."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    workflow_id = campaign.workflow_id
    names = await workflows.names_of(session, org.organization_id, [workflow_id])
    runs = await page_of_runs(session, org.organization_id, query, workflow_id=workflow_id, campaign_id=campaign_id)
    records = [present_run(RunRecord, row, names.get(workflow_id, ""), links) for row in runs.rows]
    return as_page(query, records, runs.total)


@router.get("/preflight", response_model=PreflightResponse, operation_id="check_campaign_before_start")
async def check_campaign_before_start(
    campaign_id: Id, org: CurrentOrg, _read: ReadTransaction, services: Services, request: Request
) -> PreflightResponse:
    """Predicts what starting the campaign now would do: contacts by time zone, outside calling hours, on the
    do-not-call list or without a value for a variable that the agent uses, and how long the campaign takes. An
    organization has one such check running and four waiting in a process; requests for the same campaign share one.
    Beyond that: 429 (`too_many_requests`)."""
    return await end_with_client(request, services.preflight.build_report(org.organization_id, campaign_id))


@router.get("/source-download-url", response_model=SourceDownloadUrl, operation_id="get_campaign_source_url")
async def get_campaign_source_url(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    request: Request,
    now: Now,
    services: Services,
) -> SourceDownloadUrl:
    """Returns a link to the CSV as it was uploaded, valid for 15 minutes."""
    campaign = await service.get_campaign(session, org.organization_id, campaign_id)
    if campaign.contacts_file_key is None:
        raise ContactFileNotFound
    token = await services.files.download_token(org.organization_id, campaign.contacts_file_key)
    url = f"{base_url(request)}/api/v1/s3/files/{token}"
    return SourceDownloadUrl(
        download_url=url,
        url=url,
        file_name=original_file_name(campaign.contacts_file_key),
        expires_in=LINK_TTL_S,
        expires_at=now + timedelta(seconds=LINK_TTL_S),
    )


@router.get(
    "/report",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE.partition(";")[0]: {}}, "description": "CSV"}},
    operation_id="download_campaign_report",
)
async def download_campaign_report(
    campaign_id: Id,
    org: CurrentOrg,
    services: Services,
    links: Links,
    _read: ReadTransaction,
    start_date: Time = None,
    end_date: Time = None,
) -> StreamingResponse:
    """Returns a CSV with a row for each call, in the order of the file, with the file's columns and one column for each
    extracted variable."""
    period = parse_period(start_date, end_date)
    report = await services.reports.open_report(links, org.organization_id, campaign_id, period)
    return await csv_response(f"campaign_{campaign_id}_report.csv", report.header, report.stream_rows())


@router.get("/contacts", response_model=ContactList, operation_id="list_campaign_contacts")
async def list_campaign_contacts(
    campaign_id: Id,
    org: CurrentOrg,
    session: Session,
    page: PageParams,
    state: Annotated[list[State] | None, Query(description="Repeat to match any of several")] = None,
    outcome: Annotated[list[Outcome] | None, Query(description="Repeat to match any of several")] = None,
    result: Annotated[
        list[ResultName] | None, Query(max_length=20, description="Repeat to match any of several")
    ] = None,
) -> ContactList:
    """Lists the campaign's contacts in the order of the file, each with its latest call and that call's result."""
    await service.get_campaign(session, org.organization_id, campaign_id)
    rows, total = await repository.list_contacts(
        session,
        org.organization_id,
        campaign_id,
        states=state or (),
        outcomes=outcome or (),
        among=ids_with_result(org.organization_id, campaign_id, result) if result else None,
        limit=page.limit,
        offset=page.offset,
    )
    return ContactList(
        contacts=await present_contacts(session, org.organization_id, rows),
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.get(
    "/contacts/{contact_id}/why-not-now", response_model=WhyNotNowResponse, operation_id="explain_campaign_contact"
)
async def explain_campaign_contact(
    campaign_id: Id, contact_id: LongId, org: CurrentOrg, _read: ReadTransaction, services: Services
) -> WhyNotNow:
    """Explains which rule currently prevents a contact from being called, and until when if that is known."""
    return await services.campaigns.why_not_now(org.organization_id, campaign_id, contact_id)
