"""Every run of an organization, as a list and as a download."""

from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse

from offhook.kit.database.database import Session
from offhook.kit.files.csv_downloads import MEDIA_TYPE, csv_response
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, Now, ReadTransaction
from offhook.runs.lists import usage_list
from offhook.runs.lists.insights import MAX_DAYS, load_insights
from offhook.runs.lists.usage_list import UsageQuery
from offhook.runs.records.transcript_queries import MAX_QUERY_CHARS
from offhook.runs.schemas import InsightsResponse, UsageRunList
from offhook.runs.services import Services

router = Router(prefix="/organizations/usage/runs", tags=["usage"])
insights_router = Router(prefix="/organizations/usage", tags=["usage"])

MAX_LIMIT = 200
_MAX_OFFSET = 2**31 - 1
_MAX_PAGE = 1_000_000

TimeParam = Annotated[str | None, Query(max_length=64, description="ISO 8601; a plain date covers the entire day")]


def _usage_query(
    from_date: TimeParam = None,
    to_date: TimeParam = None,
    start_date: Annotated[str | None, Query(max_length=64, description="The same as from_date")] = None,
    end_date: Annotated[str | None, Query(max_length=64, description="The same as to_date")] = None,
    workflow_id: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    filters: Annotated[str | None, Query(description="JSON array of {field, type, value}")] = None,
    search: Annotated[
        str | None,
        Query(
            max_length=MAX_QUERY_CHARS,
            description='Words in the transcripts of finished runs; "a phrase", one or another, -without',
        ),
    ] = None,
) -> UsageQuery:
    return UsageQuery(from_date or start_date, to_date or end_date, workflow_id, filters, search)


def _sort_params(
    sort_by: Annotated[str | None, Query(description="id, created_at (default) or duration")] = None,
    sort_order: Annotated[str | None, Query(description="asc or desc (default)")] = None,
) -> tuple[str | None, str | None]:
    return sort_by, sort_order


UsageQueryDep = Annotated[UsageQuery, Depends(_usage_query)]


@router.get("", response_model=UsageRunList, operation_id="list_usage_runs")
async def list_usage_runs(
    org: CurrentOrg,
    session: Session,
    query: UsageQueryDep,
    sorting: Annotated[tuple[str | None, str | None], Depends(_sort_params)],
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
    offset: Annotated[int | None, Query(ge=0, le=_MAX_OFFSET)] = None,
    page: Annotated[int, Query(ge=1, le=_MAX_PAGE, description="Used when there is no offset")] = 1,
) -> UsageRunList:
    """Lists the runs of all agents, live runs included, newest first by default."""
    start = (page - 1) * limit if offset is None else offset
    items, total = await usage_list.find_usage_page(
        session,
        org.organization_id,
        query,
        limit=limit,
        offset=start,
        sort_by=sorting[0],
        sort_order=sorting[1],
    )
    return UsageRunList(
        items=items,
        total=total,
        limit=limit,
        offset=start,
        total_count=total,
        page=start // limit + 1,
        total_pages=-(-total // limit),
        total_duration_seconds=round(sum(item.duration_seconds for item in items), 3),
    )


@router.get(
    "/report",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE.partition(";")[0]: {}}, "description": "CSV"}},
    operation_id="download_usage_report",
)
async def download_report(
    org: CurrentOrg,
    query: UsageQueryDep,
    now: Now,
    services: Services,
    _read: ReadTransaction,
) -> StreamingResponse:
    """Downloads one row per run, newest first: agent, duration, cost, outcome and a column for each extracted variable."""
    report = await services.usage_reports.open_report(org.organization_id, query)
    return await csv_response(f"usage_runs_{now:%Y%m%d_%H%M%S}.csv", report.header, report.stream_rows())


@insights_router.get("/insights", response_model=InsightsResponse, operation_id="get_usage_insights")
async def get_insights(
    org: CurrentOrg, session: Session, now: Now, days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30
) -> InsightsResponse:
    """Returns outcomes, minutes, cost and response time of finished runs of the last days, by day and by agent."""
    return await load_insights(session, org.organization_id, now, days)
