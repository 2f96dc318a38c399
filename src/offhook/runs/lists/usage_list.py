"""Runs of a whole organization as its usage page and its report show them."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.filters.criteria import (
    FilterColumn,
    FilterConditions,
    FilterField,
    FilterInvalid,
    parse_conditions,
    parse_filters,
    parse_sort,
)
from offhook.runs.lists import workflow_run_counts
from offhook.runs.lists.listing import FILTERS as RUN_FILTERS
from offhook.runs.lists.listing import find_runs, run_conditions
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
    Run.created_at,
    Run.started_at,
    Run.ended_at,
    Run.duration,
    Run.cost_cents,
)
REPORT_HEADER: Final = (
    "run_id",
    "agent_name",
    "campaign_id",
    "phone_number",
    "direction",
    "mode",
    "status",
    "outcome",
    "started_at",
    "ended_at",
    "duration_seconds",
    "cost_cents",
)
_REPORT_PAGE: Final = 1000
# A spreadsheet has 16,384 columns; nobody reads the five hundred and first.
_MAX_EXTRACTED: Final = 500
_EXTRACTED: Final = "extracted_variables"


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """What to show; times are ISO 8601, a plain day counts whole. ``filters`` and ``sort_by`` as in every list."""

    from_date: str | None
    to_date: str | None
    workflow_id: int | None
    filters: str | None


async def find_usage_page(
    session: AsyncSession,
    organization_id: int,
    query: UsageQuery,
    *,
    limit: int,
    offset: int,
    sort_by: str | None,
    sort_order: str | None,
) -> tuple[list[dict[str, Any]], int]:
    """Items as they are shown, the newest first unless sorted otherwise, and how many there are in all."""
    order = parse_sort(sort_by, sort_order, SORTS, default="created_at", tie_break=Run.id)
    mine = _parse_usage_conditions(organization_id, query)
    # Without filters and times nothing need be counted.
    is_whole = not (query.filters or query.from_date or query.to_date)
    total = await workflow_run_counts.count_runs(session, organization_id, query.workflow_id) if is_whole else None
    found = await find_runs(session, COLUMNS, mine, order, limit=limit, offset=offset, total=total)
    names = await workflows.names_of(session, organization_id, {row.workflow_id for row in found.rows})
    return [_item(row, names) for row in found.rows], found.total


def usage_conditions(organization_id: int, query: UsageQuery) -> list[ColumnElement[bool]]:
    """FilterInvalid (422) names the parameter that is wrong."""
    return run_conditions(_parse_usage_conditions(organization_id, query))


def _parse_usage_conditions(organization_id: int, query: UsageQuery) -> FilterConditions:
    found = parse_conditions(query.filters, FILTERS)
    found.on_columns.append(Run.organization_id == organization_id)
    if query.workflow_id is not None:
        found.on_columns.append(Run.workflow_id == query.workflow_id)
    for name, bound, value in (("from_date", "from", query.from_date), ("to_date", "to", query.to_date)):
        if value:
            found.on_columns.extend(_date_conditions(name, bound, value))
    return found


def _date_conditions(name: str, bound: str, value: str) -> list[ColumnElement[bool]]:
    criterion = {"field": "created_at", "type": "date", "value": {bound: value}}
    try:
        return parse_filters(json.dumps([criterion]), FILTERS)
    except FilterInvalid:
        raise FilterInvalid([name], f"{name} is no ISO 8601 time.", "datetime_parsing") from None


def _item(row: Any, names: dict[int, str]) -> dict[str, Any]:
    values = {column.key: getattr(row, column.key) for column in COLUMNS}
    return {
        **values,
        "run_id": row.id,
        "workflow_name": names.get(row.workflow_id, ""),
        "duration_seconds": 0.0 if row.duration is None else float(row.duration),
    }


class UsageReport:
    """The runs as rows of a table, read in pages by a transaction each: a slow client may take an hour."""

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
                found = await self._read_page(session, last)
                names = await workflows.names_of(session, self._organization_id, {row.workflow_id for row in found})
            for row in found:
                yield self._format_row(row, names)
            if len(found) < _REPORT_PAGE:
                return
            last = found[-1].created_at, found[-1].id

    async def _read_page(self, session: AsyncSession, last: tuple[Any, int] | None) -> Sequence[Any]:
        mine = usage_conditions(self._organization_id, self._query)
        if last is not None:
            mine.append(tuple_(Run.created_at, Run.id) < last)
        found = await session.execute(
            select(*COLUMNS, Run.gathered_context[_EXTRACTED].label(_EXTRACTED))
            .where(*mine)
            .order_by(Run.created_at.desc(), Run.id.desc())
            .limit(_REPORT_PAGE)
        )
        return found.all()

    def _format_row(self, row: Any, names: dict[int, str]) -> list[Any]:
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
            row.started_at,
            row.ended_at,
            row.duration,
            row.cost_cents,
            *(values.get(name) for name in self._extracted),
        ]


async def build_usage_report(db: Database, organization_id: int, query: UsageQuery) -> UsageReport:
    """A report whose columns are those of every run and one for each variable that was extracted anywhere in it."""
    async with db.transaction() as session:
        variables = Run.gathered_context[_EXTRACTED]
        keys = select(func.jsonb_object_keys(variables, type_=Text).label("name")).where(
            *usage_conditions(organization_id, query), func.jsonb_typeof(variables, type_=Text) == "object"
        )
        named = keys.subquery()
        found = await session.scalars(select(named.c.name).distinct().order_by(named.c.name).limit(_MAX_EXTRACTED))
        return UsageReport(db, organization_id, query, list(found))
