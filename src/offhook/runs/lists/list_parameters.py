"""Query parameters and pages shared by all run lists."""

from typing import Annotated

from fastapi import Depends, Query

from offhook.kit.http.pagination import PageParams
from offhook.runs.lists.listing import RunQuery
from offhook.runs.schemas import RunList, RunRecord


# async without an await: the framework runs plain functions in a thread
async def _run_query(
    page: PageParams,
    filters: Annotated[str | None, Query(description="JSON array of {field, type, value}")] = None,
    sort_by: Annotated[str | None, Query(description="id, created_at (default) or duration")] = None,
    sort_order: Annotated[str | None, Query(description="asc or desc (default)")] = None,
) -> RunQuery:
    return RunQuery(page, filters, sort_by, sort_order)


RunQueryParams = Annotated[RunQuery, Depends(_run_query)]


def as_page(query: RunQuery, runs: list[RunRecord], total: int) -> RunList:
    """Wraps these records in a page."""
    return RunList(
        runs=runs,
        total_count=total,
        page=query.page.page,
        limit=query.page.limit,
        total_pages=query.page.total_pages(total),
    )
