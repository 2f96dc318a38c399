"""Pages of runs: which fields filter and sort them, as Core rows because a page of objects costs three times as much."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, UnaryExpression, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.filters import Column, Conditions, Field, parse_conditions, parse_sort
from offhook.kit.pagination import Page
from offhook.runs.links import Links
from offhook.runs.tables import Run

FILTERS: Final[dict[str, Field]] = {
    "id": Field.of(Run.id, "number", "select"),
    "duration": Field.of(Run.duration, "number"),
    "created_at": Field.of(Run.created_at, "date"),
    "status": Field.of(Run.status, "select", "text"),
    "outcome": Field.of(Run.outcome, "select", "text"),
    "workflow_id": Field.of(Run.workflow_id, "number", "select"),
    "campaign_id": Field.of(Run.campaign_id, "number", "select"),
    "direction": Field.of(Run.direction, "select", "text"),
    "mode": Field.of(Run.mode, "select", "text"),
    "phone_number": Field.of(Run.phone_number, "text", "select"),
    "call_id": Field.of(Run.call_id, "text", "select"),
    "context.*": Field.of(Run.initial_context, "number", "text", "select", "date", "boolean"),
    "gathered.*": Field.of(Run.gathered_context, "number", "text", "select", "date", "boolean"),
}
SORTS: Final[dict[str, Column]] = {"id": Run.id, "created_at": Run.created_at, "duration": Run.duration}

COLUMNS: Final = (
    Run.id,
    Run.workflow_id,
    Run.name,
    Run.mode,
    Run.direction,
    Run.status,
    Run.outcome,
    Run.phone_number,
    Run.caller_number,
    Run.called_number,
    Run.call_id,
    Run.campaign_id,
    Run.version_number,
    Run.created_at,
    Run.started_at,
    Run.answered_at,
    Run.ended_at,
    Run.duration,
    Run.cost_cents,
    Run.end_reason,
    Run.initial_context,
    Run.gathered_context,
    Run.recording_key,
    Run.usage,
    Run.latency,
    Run.tags,
)


# How many of the newest runs are looked through for what stands in a context or was gathered: a context may have 64 KB,
# which no index holds, and reading a hundred thousand of them takes a second.
WINDOW: Final = 5000
WINDOW_HEADER: Final = "X-Filter-Window"


@dataclass(frozen=True, slots=True)
class Found:
    """A page of rows and the number of all that match; ``is_cut``: older runs than the window were not looked at."""

    rows: Sequence[Any]
    total: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A list's parameters as they came; :func:`page_of_runs` refuses what is wrong with 422."""

    page: Page
    filters: str | None
    sort_by: str | None
    sort_order: str | None


async def page_of_runs(
    session: AsyncSession,
    organization_id: int,
    query: RunQuery,
    *,
    workflow_id: int | None = None,
    campaign_id: int | None = None,
) -> Found:
    """Rows of :data:`COLUMNS`. A campaign's runs are found by its workflow's index: name both."""
    order = parse_sort(query.sort_by, query.sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = parse_conditions(query.filters, FILTERS)
    conditions.on_columns.append(Run.organization_id == organization_id)
    if workflow_id is not None:
        conditions.on_columns.append(Run.workflow_id == workflow_id)
    if campaign_id is not None:
        conditions.on_columns.append(Run.campaign_id == campaign_id)
    return await find(session, COLUMNS, conditions, order, limit=query.page.limit, offset=query.page.offset)


async def find(
    session: AsyncSession,
    columns: Sequence[Any],
    conditions: Conditions,
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
) -> Found:
    """A page of runs. Conditions on contexts see the newest :data:`WINDOW` runs that the other conditions leave."""
    if conditions.on_members:
        return await _find_in_window(session, columns, conditions, order, limit=limit, offset=offset)
    mine = conditions.on_columns
    total = (await session.execute(select(func.count()).select_from(Run).where(*mine))).scalar_one()
    if total <= offset:
        return Found([], total)
    rows = await session.execute(page_of(columns, mine, order, limit=limit, offset=offset))
    return Found(rows.all(), total)


async def _find_in_window(
    session: AsyncSession,
    columns: Sequence[Any],
    conditions: Conditions,
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
) -> Found:
    newest = select(Run.id).where(*conditions.on_columns).order_by(Run.created_at.desc(), Run.id.desc())
    looked_at = newest.limit(WINDOW).subquery()
    hits = await session.scalars(
        select(Run.id).join(looked_at, looked_at.c.id == Run.id).where(*conditions.on_members).order_by(*order)
    )
    ids = hits.all()
    there = await session.scalar(select(func.count()).select_from(newest.limit(WINDOW + 1).subquery()))
    page = ids[offset : offset + limit]
    rows = await session.execute(select(*columns).where(Run.id.in_(page)).order_by(*order))
    return Found(rows.all(), len(ids), is_cut=(there or 0) > WINDOW)


def page_of(
    columns: Sequence[Any],
    conditions: Sequence[ColumnElement[bool]],
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
) -> Select[Any]:
    """A page in two steps: its ids by an index that has all that is filtered and sorted by, then only their rows."""
    ids = select(Run.id).where(*conditions).order_by(*order).limit(limit).offset(offset)
    return select(*columns).where(Run.id.in_(ids)).order_by(*order)


def record(row: Any, workflow_name: str, links: Links) -> dict[str, Any]:
    """One run as it is shown: a row of :data:`COLUMNS`, or a Run."""
    values = {column.key: getattr(row, column.key) for column in COLUMNS if column.key != "recording_key"}
    has_media = row.answered_at is not None
    return {
        **values,
        "workflow_run_id": row.id,
        "workflow_name": workflow_name,
        "duration": None if row.duration is None else float(row.duration),
        "transcript_url": links.signed("transcript", row.workflow_id, row.id) if has_media else None,
        "recording_url": links.signed("recording", row.workflow_id, row.id) if row.recording_key else None,
    }
