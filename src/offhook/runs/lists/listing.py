"""Pages of runs: which fields filter and sort them, as Core rows because a page of objects costs three times as much."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Select,
    Text,
    UnaryExpression,
    any_,
    cast,
    func,
    literal,
    schema,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BooleanClauseList
from sqlalchemy.sql.util import ClauseAdapter

from offhook.kit.filters.criteria import Column, Conditions, Field, Named, from_the_end, parse_conditions, parse_sort
from offhook.kit.http.pagination import Page
from offhook.runs.artifacts.links import Links
from offhook.runs.lists import workflow_run_counts
from offhook.runs.tables import Run, RunValue

# So many rows are read and sorted as they are.
_FEW: Final = 1000
_VALUES: Final = Named(RunValue.name, RunValue.value, RunValue.number)
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
    "context.*": Field.of(_VALUES, "number", "text", "select", "date", "boolean"),
    "gathered.*": Field.of(_VALUES, "number", "text", "select", "date", "boolean"),
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
# By name: asking a mapped column for its key costs more than reading the value.
_SHOWN: Final = tuple(column.key for column in COLUMNS if column.key != "recording_key")


@dataclass(frozen=True, slots=True)
class Found:
    """A page of rows and the number of all that match; ``window``: only so many of the newest runs were looked at."""

    rows: Sequence[Any]
    total: int
    window: int | None = None


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
    total = None
    if not conditions.all and campaign_id is None:
        total = await workflow_run_counts.total(session, organization_id, workflow_id)
    conditions.on_columns.append(Run.organization_id == organization_id)
    if workflow_id is not None:
        conditions.on_columns.append(Run.workflow_id == workflow_id)
    if campaign_id is not None:
        conditions.on_columns.append(Run.campaign_id == campaign_id)
    part = query.page
    return await find(session, COLUMNS, conditions, order, limit=part.limit, offset=part.offset, total=total)


async def find(
    session: AsyncSession,
    columns: Sequence[Any],
    conditions: Conditions,
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
    total: int | None = None,
) -> Found:
    """A page in two steps: its ids by an index that has all that is filtered and sorted by, then only their rows.
    ``total``: how many match, when that is known."""
    run_id, mine, _ = _by_index(conditions, ())
    if conditions.have_text:
        # Looking through an index for a text costs most of such a request: once, when it is found rarely.
        ids = (await session.scalars(ids_of(conditions).limit(_FEW + 1))).all()
        if len(ids) <= _FEW:
            few = select(*columns).where(Run.id == any_(cast(ids, ARRAY(BigInteger)))).order_by(*order)
            return Found((await session.execute(few.limit(limit).offset(offset))).all(), len(ids))
    if total is None:
        total = (await session.execute(select(func.count()).select_from(run_id.class_).where(*mine))).scalar_one()
    if total <= offset:
        return Found([], total)
    run_id, mine, sorting = _by_index(conditions, order)
    alternatives = _alternatives(mine) if run_id is RunValue.run_id else None
    if alternatives is None:
        page = nearest(select(run_id).where(*mine), sorting, total, limit=limit, offset=offset)
    else:
        page = _merged(*alternatives, sorting, total, limit=limit, offset=offset)
    rows = await session.execute(select(*columns).where(Run.id.in_(page)).order_by(*order))
    return Found(rows.all(), total)


def nearest(
    found: Select[Any], order: Sequence[UnaryExpression[Any]], total: int, *, limit: int, offset: int
) -> Select[Any]:
    """A page of what has so many rows in all, read from the nearer end: the last page costs no more than the first. Its
    rows are to be ordered once more."""
    if offset <= total // 2:
        return found.order_by(*order).limit(limit).offset(offset)
    count = max(0, min(limit, total - offset))
    return found.order_by(*from_the_end(order)).limit(count).offset(max(0, total - offset - count))


def _alternatives(mine: Sequence[ColumnElement[bool]]) -> tuple[list[str], list[ColumnElement[bool]]] | None:
    """The values of the one ``value IN (…)`` among these conditions, and the others; None when there is no such one."""
    parts = [part for condition in mine for part in _and_combined(condition)]
    lists = [part for part in parts if getattr(part, "operator", None) is operators.in_op]
    if len(lists) != 1 or columns_of(lists[0]) != {"value"}:
        return None
    return list(dict.fromkeys(lists[0].right.value)), [part for part in parts if part is not lists[0]]


def _and_combined(condition: ColumnElement[bool]) -> Sequence[ColumnElement[bool]]:
    is_and = isinstance(condition, BooleanClauseList) and condition.operator is operators.and_
    return condition.clauses if is_and else (condition,)


def _merged(
    values: Sequence[str],
    others: Sequence[ColumnElement[bool]],
    order: Sequence[UnaryExpression[Any]],
    total: int,
    *,
    limit: int,
    offset: int,
) -> Select[Any]:
    """:func:`nearest` among the runs with one of these values. The index has those of each value in order, but not those
    of several: of each only as many are read as the page may need."""
    each = func.unnest(literal(values, ARRAY(Text))).table_valued("value").render_derived("each")
    in_order = (
        select(RunValue.run_id, RunValue.created_at).where(*others, RunValue.value == each.c.value).correlate(each)
    )
    is_late = offset > total // 2
    needed = total - offset if is_late else offset + limit
    found = in_order.order_by(*(from_the_end(order) if is_late else order)).limit(needed).lateral("found")
    sorting = [ClauseAdapter(found).traverse(by) for by in order]
    return nearest(
        select(found.c.run_id).select_from(each.join(found, true())), sorting, total, limit=limit, offset=offset
    )


def ids_of(conditions: Conditions) -> Select[Any]:
    """The ids of all that match, in no order."""
    run_id, mine, _ = _by_index(conditions, ())
    return select(run_id).where(*mine)


def on_runs(conditions: Conditions) -> list[ColumnElement[bool]]:
    """All conditions, for a SELECT from runs."""
    return [*conditions.on_columns, *(Run.id.in_(_having(value, conditions)) for value in conditions.on_members)]


# What a run's values say of it as well.
_SHARED: Final = {
    "organization_id": RunValue.organization_id,
    "workflow_id": RunValue.workflow_id,
    "created_at": RunValue.created_at,
    "id": RunValue.run_id,
}


def _by_index(
    conditions: Conditions, order: Sequence[UnaryExpression[Any]]
) -> tuple[InstrumentedAttribute[int], list[ColumnElement[bool]], Sequence[Any]]:
    """(id, conditions, order) on the table whose index has the most of them: a value and where and when its run was are
    in one.
    """
    mine = conditions.on_columns
    if not conditions.on_members or not all(columns_of(part) <= _SHARED.keys() for part in (*mine, *order)):
        return Run.id, on_runs(conditions), order
    first, *others = conditions.on_members
    narrow = [*map(_on_values, mine), first, *(RunValue.run_id.in_(_having(value, conditions)) for value in others)]
    return RunValue.run_id, narrow, [_on_values(by) for by in order]


def _having(value: ColumnElement[bool], conditions: Conditions) -> Select[Any]:
    """The ids of the organization's runs that have a value."""
    same_organization = [_on_values(part) for part in conditions.on_columns if columns_of(part) == {"organization_id"}]
    return select(RunValue.run_id).where(*same_organization, value).correlate(None)


def columns_of(element: Any) -> set[str]:
    """The names of the columns that a condition or an order speaks of."""
    return {part.key for part in visitors.iterate(element) if isinstance(part, schema.Column)}


def _on_values(element: ColumnElement[Any]) -> Any:
    """The same said of ``run_values``."""

    def moved(element: Any, **_: Any) -> Any:
        return _SHARED[element.key].expression if isinstance(element, schema.Column) else None

    return visitors.replacement_traverse(element, {}, moved)


def record(row: Any, workflow_name: str, links: Links) -> dict[str, Any]:
    """One run as it is shown: a row of :data:`COLUMNS`, or a Run."""
    has_media = row.answered_at is not None
    return {
        **{name: getattr(row, name) for name in _SHOWN},
        "workflow_run_id": row.id,
        "workflow_name": workflow_name,
        "duration": None if row.duration is None else float(row.duration),
        "transcript_url": links.signed("transcript", row.workflow_id, row.id) if has_media else None,
        "recording_url": links.signed("recording", row.workflow_id, row.id) if row.recording_key else None,
    }
