"""Endpoints to start, list and read the runs of a workflow."""

from dataclasses import asdict
from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse

from offhook.kit.database.database import Session
from offhook.kit.files.csv_downloads import MEDIA_TYPE, csv_response
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, ReadTransaction, RequireAdmin, RequireMember
from offhook.runs import repository, service
from offhook.runs.finishing import analysis_queries, reviews
from offhook.runs.journals import queries as journal_queries
from offhook.runs.lists import listing
from offhook.runs.lists.list_parameters import RunQueryParams, as_page
from offhook.runs.lists.listing import page_of_runs
from offhook.runs.lists.usage_list import UsageQuery
from offhook.runs.live import media_tokens
from offhook.runs.records import event_queries
from offhook.runs.records.projections import build_transcript, summarize_progress, tally_events
from offhook.runs.schemas import (
    CreateWorkflowRunRequest,
    CreateWorkflowRunResponse,
    RunDeleted,
    RunDetail,
    RunList,
    RunNotes,
    RunRecord,
    UpdateRunRequest,
)
from offhook.runs.services import Links, Services
from offhook.runs.states import LIVE_STATES, TEXT_CHAT
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph

router = Router(prefix="/workflow", tags=["runs"])

# More events than an hour's conversation produces; the event stream has the rest.
MAX_EVENTS = 10_000


@router.post(
    "/{workflow_id}/runs",
    response_model=CreateWorkflowRunResponse,
    operation_id="create_workflow_run",
    responses=error_responses(402),
)
async def create_workflow_run(
    workflow_id: Id,
    body: CreateWorkflowRunRequest,
    org: RequireMember,
    session: Session,
    links: Links,
    services: Services,
) -> CreateWorkflowRunResponse:
    """Creates a run on the draft, or on the published version if there is no draft. For modes with a media socket the
    response contains its URL, which opens once, within five minutes."""
    services.modes.require_known(body.mode)
    run = await service.create_run(
        session,
        organization_id=org.organization_id,
        workflow_id=workflow_id,
        mode=body.mode,
        direction="inbound",
        use_draft=True,
        name=body.name,
        initial_context=dict(body.initial_context),
        created_by=org.user_id,
        name_prefix="WR-TEST",
    )
    token = None if run.mode == TEXT_CHAT else await media_tokens.issue_token(session, run)
    return CreateWorkflowRunResponse(
        id=run.id,
        workflow_run_id=run.id,
        workflow_id=run.workflow_id,
        name=run.name,
        workflow_run_name=run.name,
        mode=run.mode,
        status=run.status,
        created_at=run.created_at,
        definition_id=run.version_id,
        initial_context=run.initial_context,
        media_url=links.media_socket_url(run.mode, run.id, token) if token else None,
        media_token=token,
    )


@router.get("/{workflow_id}/runs", response_model=RunList, operation_id="list_workflow_runs")
async def list_workflow_runs(
    workflow_id: Id,
    org: CurrentOrg,
    session: Session,
    query: RunQueryParams,
    links: Links,
) -> RunList:
    """Lists the workflow's runs, newest first by default.

    Filters on `context.<name>` and `gathered.<name>` match text, numbers and booleans: the first 100 names of each,
    by their first 300 characters."""
    workflow_name = await workflows.name_of(session, org.organization_id, workflow_id)
    found = await page_of_runs(session, org.organization_id, query, workflow_id=workflow_id)
    return as_page(
        query, [listing.present_run(RunRecord, row, workflow_name, links) for row in found.rows], found.total
    )


@router.get(
    "/{workflow_id}/report",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE.partition(";")[0]: {}}, "description": "CSV"}},
    operation_id="download_workflow_report",
)
async def download_workflow_report(
    workflow_id: Id,
    org: CurrentOrg,
    services: Services,
    _read: ReadTransaction,
    start_date: Annotated[
        str | None, Query(max_length=64, description="ISO 8601; a plain date covers the entire day")
    ] = None,
    end_date: Annotated[
        str | None, Query(max_length=64, description="ISO 8601; a plain date covers the entire day")
    ] = None,
    filters: Annotated[str | None, Query(description="JSON array of {field, type, value}")] = None,
) -> StreamingResponse:
    """Downloads one row per run, newest first, with a column for each extracted variable."""
    query = UsageQuery(start_date, end_date, workflow_id, filters)
    report = await services.usage_reports.open_workflow_report(org.organization_id, workflow_id, query)
    return await csv_response(f"workflow_{workflow_id}_report.csv", report.header, report.stream_rows())


@router.get("/{workflow_id}/runs/{run_id}", response_model=RunDetail, operation_id="get_workflow_run")
async def get_workflow_run(
    workflow_id: Id,
    run_id: LongId,
    org: CurrentOrg,
    session: Session,
    links: Links,
) -> RunDetail:
    """Returns a run with its events, transcript and cost; for a live run, what is known so far."""
    run = await service.get_run(session, org.organization_id, run_id, workflow_id=workflow_id)
    workflow_name = await workflows.name_of(session, org.organization_id, workflow_id)
    events = await event_queries.read_events(session, org.organization_id, run_id, limit=MAX_EVENTS)
    version = await workflows.version_to_run(session, org.organization_id, run.version_id)
    previous_id, next_id = await repository.find_neighbors(session, org.organization_id, workflow_id, run_id)
    live_values: dict[str, object] = {}
    if run.status in LIVE_STATES:
        tally = tally_events(events)
        live_values = {
            "latency": tally.latency_summary(),
            "gathered_context": {**run.gathered_context, **tally.gathered_context()},
        }
    return listing.present_run(
        RunDetail,
        run,
        workflow_name,
        links,
        events=events,
        transcript=[asdict(line) for line in build_transcript(events)],
        progress=summarize_progress(events),
        cost_lines=await repository.cost_lines(session, org.organization_id, run_id),
        carrier_bill=run.carrier_bill,
        unpriced=run.usage.get("unpriced", []),
        annotations=await reviews.load_annotations(session, org.organization_id, run_id),
        analysis=await analysis_queries.read_analysis(session, org.organization_id, run_id),
        note=await service.read_note(session, run),
        waits_until=run.lease_until if run.mode == TEXT_CHAT and run.status in LIVE_STATES else None,
        prompts={node.id: node.prompt for node in parse_graph(version.definition).nodes.values() if node.prompt},
        has_journal=await journal_queries.has_journal(session, org.organization_id, run_id),
        previous_run_id=previous_id,
        next_run_id=next_id,
        **live_values,
    )


@router.patch("/{workflow_id}/runs/{run_id}", response_model=RunNotes, operation_id="update_workflow_run")
async def update_workflow_run(
    workflow_id: Id, run_id: LongId, body: UpdateRunRequest, org: RequireMember, session: Session
) -> RunNotes:
    """Changes the note and the tags of a run; lists filter by tags."""
    run = await service.update_notes(
        session, org.organization_id, run_id, workflow_id=workflow_id, note=body.note, tags=body.tags
    )
    return RunNotes(workflow_run_id=run.id, note=await service.read_note(session, run), tags=run.tags)


@router.delete("/{workflow_id}/runs/{run_id}", response_model=RunDeleted, operation_id="delete_workflow_run")
async def delete_workflow_run(workflow_id: Id, run_id: LongId, org: RequireAdmin, services: Services) -> RunDeleted:
    """Permanently deletes a finished run with its recording, transcript, events and notes. Its usage and cost stay in
    the totals and the ledger."""
    done = await services.eraser.erase_run(org, workflow_id, run_id)
    return RunDeleted(
        workflow_run_id=done.run_id, events=done.events, has_recording=done.has_recording, deleted_at=done.deleted_at
    )
