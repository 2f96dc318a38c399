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

from offhook.kit.filters.criteria import (
    FilterColumn,
    FilterConditions,
    FilterField,
    NamedValueColumns,
    parse_conditions,
    parse_sort,
    reverse_sort,
)
from offhook.kit.http.pagination import PageRequest
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.lists import workflow_run_counts
from offhook.runs.tables import Run, RunValue

# So many rows are read and sorted as they are.
_MAX_PREFETCHED_IDS: Final = 1000
_VALUE_FIELD: Final = NamedValueColumns(RunValue.name, RunValue.value, RunValue.number)
FILTERS: Final[dict[str, FilterField]] = {
    "id": FilterField.for_column(Run.id, "number", "select"),
    "duration": FilterField.for_column(Run.duration, "number"),
    "created_at": FilterField.for_column(Run.created_at, "date"),
    "status": FilterField.for_column(Run.status, "select", "text"),
    "outcome": FilterField.for_column(Run.outcome, "select", "text"),
    "workflow_id": FilterField.for_column(Run.workflow_id, "number", "select"),
    "campaign_id": FilterField.for_column(Run.campaign_id, "number", "select"),
    "direction": FilterField.for_column(Run.direction, "select", "text"),
    "mode": FilterField.for_column(Run.mode, "select", "text"),
    "phone_number": FilterField.for_column(Run.phone_number, "text", "select"),
    "call_id": FilterField.for_column(Run.call_id, "text", "select"),
    "context.*": FilterField.for_column(_VALUE_FIELD, "number", "text", "select", "date", "boolean"),
    "gathered.*": FilterField.for_column(_VALUE_FIELD, "number", "text", "select", "date", "boolean"),
}
SORTS: Final[dict[str, FilterColumn]] = {"id": Run.id, "created_at": Run.created_at, "duration": Run.duration}

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
_SHOWN_COLUMNS: Final = tuple(column.key for column in COLUMNS if column.key != "recording_key")


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of rows and the number of all that match; ``window``: only so many of the newest runs were looked at."""

    rows: Sequence[Any]
    total: int
    window: int | None = None


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A list's parameters as they came; :func:`page_of_runs` refuses what is wrong with 422."""

    page: PageRequest
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
) -> RunPage:
    """Rows of :data:`COLUMNS`. A campaign's runs are found by its workflow's index: name both."""
    order = parse_sort(query.sort_by, query.sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = parse_conditions(query.filters, FILTERS)
    total = None
    if not conditions.all_conditions and campaign_id is None:
        total = await workflow_run_counts.count_runs(session, organization_id, workflow_id)
    conditions.on_columns.append(Run.organization_id == organization_id)
    if workflow_id is not None:
        conditions.on_columns.append(Run.workflow_id == workflow_id)
    if campaign_id is not None:
        conditions.on_columns.append(Run.campaign_id == campaign_id)
    part = query.page
    return await find_runs(session, COLUMNS, conditions, order, limit=part.limit, offset=part.offset, total=total)


async def find_runs(
    session: AsyncSession,
    columns: Sequence[Any],
    conditions: FilterConditions,
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
    total: int | None = None,
) -> RunPage:
    """A page in two steps: its ids by an index that has all that is filtered and sorted by, then only their rows.
    ``total``: how many match, when that is known."""
    run_id, mine, _ = _choose_index_table(conditions, ())
    if conditions.have_text:
        # Looking through an index for a text costs most of such a request: once, when it is found rarely.
        ids = (await session.scalars(matching_ids(conditions).limit(_MAX_PREFETCHED_IDS + 1))).all()
        if len(ids) <= _MAX_PREFETCHED_IDS:
            few = select(*columns).where(Run.id == any_(cast(ids, ARRAY(BigInteger)))).order_by(*order)
            return RunPage((await session.execute(few.limit(limit).offset(offset))).all(), len(ids))
    if total is None:
        total = (await session.execute(select(func.count()).select_from(run_id.class_).where(*mine))).scalar_one()
    if total <= offset:
        return RunPage([], total)
    run_id, mine, sorting = _choose_index_table(conditions, order)
    alternatives = _value_alternatives(mine) if run_id is RunValue.run_id else None
    if alternatives is None:
        page = page_from_nearer_end(select(run_id).where(*mine), sorting, total, limit=limit, offset=offset)
    else:
        page = _merged_page(*alternatives, sorting, total, limit=limit, offset=offset)
    rows = await session.execute(select(*columns).where(Run.id.in_(page)).order_by(*order))
    return RunPage(rows.all(), total)


def page_from_nearer_end(
    found: Select[Any], order: Sequence[UnaryExpression[Any]], total: int, *, limit: int, offset: int
) -> Select[Any]:
    """A page of what has so many rows in all, read from the nearer end: the last page costs no more than the first. Its
    rows are to be ordered once more."""
    if offset <= total // 2:
        return found.order_by(*order).limit(limit).offset(offset)
    count = max(0, min(limit, total - offset))
    return found.order_by(*reverse_sort(order)).limit(count).offset(max(0, total - offset - count))


def _value_alternatives(mine: Sequence[ColumnElement[bool]]) -> tuple[list[str], list[ColumnElement[bool]]] | None:
    """The values of the one ``value IN (…)`` among these conditions, and the others; None when there is no such one."""
    parts = [part for condition in mine for part in _and_combined(condition)]
    lists = [part for part in parts if getattr(part, "operator", None) is operators.in_op]
    if len(lists) != 1 or column_names(lists[0]) != {"value"}:
        return None
    return list(dict.fromkeys(lists[0].right.value)), [part for part in parts if part is not lists[0]]


def _and_combined(condition: ColumnElement[bool]) -> Sequence[ColumnElement[bool]]:
    is_and = isinstance(condition, BooleanClauseList) and condition.operator is operators.and_
    return condition.clauses if is_and else (condition,)


def _merged_page(
    values: Sequence[str],
    others: Sequence[ColumnElement[bool]],
    order: Sequence[UnaryExpression[Any]],
    total: int,
    *,
    limit: int,
    offset: int,
) -> Select[Any]:
    """:func:`page_from_nearer_end` among the runs with one of these values. The index has those of each value in order, but not those
    of several: of each only as many are read as the page may need."""
    each = func.unnest(literal(values, ARRAY(Text))).table_valued("value").render_derived("each")
    in_order = (
        select(RunValue.run_id, RunValue.created_at).where(*others, RunValue.value == each.c.value).correlate(each)
    )
    is_late = offset > total // 2
    needed = total - offset if is_late else offset + limit
    found = in_order.order_by(*(reverse_sort(order) if is_late else order)).limit(needed).lateral("found")
    sorting = [ClauseAdapter(found).traverse(by) for by in order]
    return page_from_nearer_end(
        select(found.c.run_id).select_from(each.join(found, true())), sorting, total, limit=limit, offset=offset
    )


def matching_ids(conditions: FilterConditions) -> Select[Any]:
    """The ids of all that match, in no order."""
    run_id, mine, _ = _choose_index_table(conditions, ())
    return select(run_id).where(*mine)


def run_conditions(conditions: FilterConditions) -> list[ColumnElement[bool]]:
    """All conditions, for a SELECT from runs."""
    return [
        *conditions.on_columns,
        *(Run.id.in_(_ids_with_value(value, conditions)) for value in conditions.on_members),
    ]


# What a run's values say of it as well.
_SHARED_COLUMNS: Final = {
    "organization_id": RunValue.organization_id,
    "workflow_id": RunValue.workflow_id,
    "created_at": RunValue.created_at,
    "id": RunValue.run_id,
}


def _choose_index_table(
    conditions: FilterConditions, order: Sequence[UnaryExpression[Any]]
) -> tuple[InstrumentedAttribute[int], list[ColumnElement[bool]], Sequence[Any]]:
    """(id, conditions, order) on the table whose index has the most of them: a value and where and when its run was are
    in one.
    """
    mine = conditions.on_columns
    if not conditions.on_members or not all(column_names(part) <= _SHARED_COLUMNS.keys() for part in (*mine, *order)):
        return Run.id, run_conditions(conditions), order
    first, *others = conditions.on_members
    narrow = [
        *map(_on_run_values, mine),
        first,
        *(RunValue.run_id.in_(_ids_with_value(value, conditions)) for value in others),
    ]
    return RunValue.run_id, narrow, [_on_run_values(by) for by in order]


def _ids_with_value(value: ColumnElement[bool], conditions: FilterConditions) -> Select[Any]:
    """The ids of the organization's runs that have a value."""
    same_organization = [
        _on_run_values(part) for part in conditions.on_columns if column_names(part) == {"organization_id"}
    ]
    return select(RunValue.run_id).where(*same_organization, value).correlate(None)


def column_names(element: Any) -> set[str]:
    """The names of the columns that a condition or an order speaks of."""
    return {part.key for part in visitors.iterate(element) if isinstance(part, schema.Column)}


def _on_run_values(element: ColumnElement[Any]) -> Any:
    """The same said of ``run_values``."""

    def replace_column(element: Any, **_: Any) -> Any:
        return _SHARED_COLUMNS[element.key].expression if isinstance(element, schema.Column) else None

    return visitors.replacement_traverse(element, {}, replace_column)


def present_run(row: Any, workflow_name: str, links: RunLinks) -> dict[str, Any]:
    """One run as it is shown: a row of :data:`COLUMNS`, or a Run."""
    has_media = row.answered_at is not None
    return {
        **{name: getattr(row, name) for name in _SHOWN_COLUMNS},
        "workflow_run_id": row.id,
        "workflow_name": workflow_name,
        "duration": None if row.duration is None else float(row.duration),
        "transcript_url": links.sign_artifact_link("transcript", row.workflow_id, row.id) if has_media else None,
        "recording_url": links.sign_artifact_link("recording", row.workflow_id, row.id) if row.recording_key else None,
    }
