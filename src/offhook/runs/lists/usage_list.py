"""An organization's runs as its usage page and report show them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.filters.criteria import (
    FilterColumn,
    FilterConditions,
    FilterField,
    FilterInvalid,
    parse_conditions,
    parse_sort,
)
from offhook.kit.filters.date_conditions import date_condition
from offhook.kit.filters.filter_values import BadValue
from offhook.runs.lists import queries, result_queries, run_count_queries
from offhook.runs.lists.listing import FILTERS as RUN_FILTERS
from offhook.runs.lists.passages import load_passages
from offhook.runs.records.transcript_queries import find_transcript_condition
from offhook.runs.schemas import RunPassage, UsageRunItem
from offhook.runs.tables import Run
from offhook.workflows import service as workflows

FILTERS: Final[dict[str, FilterField]] = {
    **RUN_FILTERS,
    "caller_number": FilterField.for_column(Run.caller_number, "text", "select"),
    "called_number": FilterField.for_column(Run.called_number, "text", "select"),
}
SORTS: Final[dict[str, FilterColumn]] = {"id": Run.id, "created_at": Run.created_at, "duration": Run.duration}
COLUMNS: Final = (
    Run.id,
    Run.workflow_id,
    Run.name,
    Run.campaign_id,
    Run.phone_number,
    Run.caller_number,
    Run.called_number,
    Run.direction,
    Run.mode,
    Run.status,
    Run.outcome,
    Run.result,
    Run.is_success,
    Run.created_at,
    Run.started_at,
    Run.ended_at,
    Run.duration,
    Run.cost_cents,
    Run.end_reason,
    Run.tags,
    Run.answer_ms,
    Run.gathered_context[("nodes_visited", "-1")].astext.label("last_step"),
    Run.initial_context["sample_call"].astext.is_not_distinct_from("true").label("is_sample_call"),
)
_SHOWN_COLUMNS: Final = tuple(column for column in COLUMNS if column.key in UsageRunItem.model_fields)
REPORT_HEADER: Final = (
    "run_id",
    "agent_name",
    "campaign_id",
    "phone_number",
    "direction",
    "mode",
    "status",
    "outcome",
    "result",
    "is_success",
    "summary",
    "started_at",
    "ended_at",
    "duration_seconds",
    "cost_cents",
)
_REPORT_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """Filters of the usage list. Times are ISO 8601, and a plain date includes the whole day; ``filters`` and
    ``sort_by`` work as in every list, and ``search`` looks for words in transcripts."""

    from_date: str | None
    to_date: str | None
    workflow_id: int | None
    filters: str | None
    search: str | None = None


async def find_usage_page(
    session: AsyncSession,
    organization_id: int,
    query: UsageQuery,
    *,
    limit: int,
    offset: int,
    sort_by: str | None,
    sort_order: str | None,
) -> tuple[list[UsageRunItem], int]:
    """Returns a page, newest first unless sorted otherwise, and the number of all runs that match."""
    order = parse_sort(sort_by, sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = await _find_usage_conditions(session, organization_id, query)
    # Without filters and times, no count is needed.
    is_whole = not (query.filters or query.from_date or query.to_date or query.search)
    total = await run_count_queries.count_runs(session, organization_id, query.workflow_id) if is_whole else None
    found = await queries.find_runs(session, COLUMNS, conditions, order, limit=limit, offset=offset, total=total)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in found.rows})
    run_ids = [row.id for row in found.rows]
    summaries = await result_queries.load_summaries(session, organization_id, run_ids)
    passages = await load_passages(session, organization_id, query.search, run_ids) if query.search else {}
    items = [_usage_run_item(row, names, summaries.get(row.id), passages.get(row.id)) for row in found.rows]
    return items, found.total


async def _find_usage_conditions(session: AsyncSession, organization_id: int, query: UsageQuery) -> FilterConditions:
    """Returns the conditions, with those on words. Raises FilterInvalid, PhraseTooCommon (422)."""
    conditions = _parse_usage_conditions(organization_id, query)
    if query.search:
        others = queries.run_conditions(conditions)
        conditions.on_columns.append(await find_transcript_condition(session, organization_id, query.search, others))
    return conditions


def _parse_usage_conditions(organization_id: int, query: UsageQuery) -> FilterConditions:
    """Parses the conditions. Raises FilterInvalid (422), naming the invalid parameter."""
    conditions = parse_conditions(query.filters, FILTERS)
    conditions.on_columns.append(Run.organization_id == organization_id)
    if query.workflow_id is not None:
        conditions.on_columns.append(Run.workflow_id == query.workflow_id)
    for name, bounds in (("from_date", {"start": query.from_date}), ("to_date", {"end": query.to_date})):
        if any(bounds.values()):
            try:
                conditions.on_columns.append(date_condition(Run.created_at, **bounds))
            except BadValue:
                raise FilterInvalid([name], f"{name} is not a valid ISO 8601 time.", "datetime_parsing") from None
    return conditions


def _usage_run_item(
    row: Any, workflow_names: dict[int, str], summary: str | None, passage: RunPassage | None
) -> UsageRunItem:
    return UsageRunItem(
        **{column.key: getattr(row, column.key) for column in _SHOWN_COLUMNS},
        run_id=row.id,
        summary=summary,
        passage=passage,
        workflow_name=workflow_names.get(row.workflow_id, ""),
        duration_seconds=0.0 if row.duration is None else float(row.duration),
    )


class UsageReport:
    """The runs as table rows, read in pages with one transaction each, because a slow client may take an hour."""

    def __init__(self, db: Database, organization_id: int, query: UsageQuery, extracted: Sequence[str]) -> None:
        self._db = db
        self._organization_id = organization_id
        self._query = query
        self._extracted = extracted

    @property
    def header(self) -> tuple[str, ...]:
        return (*REPORT_HEADER, *self._extracted)

    async def stream_rows(self) -> AsyncIterator[Sequence[Any]]:
        last: tuple[Any, int] | None = None
        while True:
            async with self._db.transaction() as session:
                conditions = await _find_usage_conditions(session, self._organization_id, self._query)
                rows = await queries.load_report_rows(
                    session, self._organization_id, COLUMNS, conditions, after=last, limit=_REPORT_PAGE
                )
                names = await workflows.names_of(session, self._organization_id, {row.workflow_id for row in rows})
                run_ids = [row.id for row in rows]
                summaries = await result_queries.load_summaries(session, self._organization_id, run_ids)
            for row in rows:
                yield self._format_row(row, names, summaries.get(row.id))
            if len(rows) < _REPORT_PAGE:
                return
            last = rows[-1].created_at, rows[-1].id

    def _format_row(self, row: Any, names: dict[int, str], summary: str | None) -> list[Any]:
        values = row.extracted_variables if isinstance(row.extracted_variables, dict) else {}
        return [
            row.id,
            names.get(row.workflow_id, ""),
            row.campaign_id,
            row.phone_number,
            row.direction,
            row.mode,
            row.status,
            row.outcome,
            row.result,
            row.is_success,
            summary,
            row.started_at,
            row.ended_at,
            row.duration,
            row.cost_cents,
            *(values.get(name) for name in self._extracted),
        ]


class UsageReports:
    """Opens reports on the runs of an organization or of one workflow."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def open_workflow_report(self, organization_id: int, workflow_id: int, query: UsageQuery) -> UsageReport:
        """Opens the report of one workflow. Raises WorkflowNotFound (404)."""
        async with self._db.transaction() as session:
            await workflows.name_of(session, organization_id, workflow_id)
        return await self.open_report(organization_id, query)

    async def open_report(self, organization_id: int, query: UsageQuery) -> UsageReport:
        """Opens a report with the columns of every run and one column per extracted variable."""
        async with self._db.transaction() as session:
            conditions = queries.run_conditions(await _find_usage_conditions(session, organization_id, query))
            extracted = await queries.extracted_names(session, organization_id, conditions)
        return UsageReport(self._db, organization_id, query, extracted)
