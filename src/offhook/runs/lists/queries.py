"""Queries for lists and reports of runs: pages by the index that fits best, report rows and extracted variable names."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BooleanClauseList
from sqlalchemy.sql.util import ClauseAdapter

from offhook.kit.filters.criteria import FilterConditions, reverse_sort
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run, RunValue

EXTRACTED: Final = "extracted_variables"
# A spreadsheet has at most 16,384 columns, and readers need far fewer.
_MAX_EXTRACTED: Final = 500
_MAX_LATEST_CALLS: Final = 500
# Up to this many rows are read and sorted directly.
_MAX_PREFETCHED_IDS: Final = 1000
# Columns that ``run_values`` repeats.
_SHARED_COLUMNS: Final = {
    "organization_id": RunValue.organization_id,
    "workflow_id": RunValue.workflow_id,
    "created_at": RunValue.created_at,
    "id": RunValue.run_id,
}


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of rows and the total number of matches; ``window``: only this many of the newest runs were considered."""

    rows: Sequence[Any]
    total: int
    window: int | None = None


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
    """Finds a page in two steps: ids from an index with all filtered and sorted columns, then only those rows.
    ``total``: the number of matches, if known.
    """
    run_id, index_conditions, _ = _choose_index_table(conditions, ())
    if conditions.have_text:
        # Scanning an index for a text dominates such a request, so with few matches it happens only once.
        ids = (await session.scalars(matching_ids(conditions).limit(_MAX_PREFETCHED_IDS + 1))).all()
        if len(ids) <= _MAX_PREFETCHED_IDS:
            few = select(*columns).where(Run.id == any_(cast(ids, ARRAY(BigInteger)))).order_by(*order)
            return RunPage((await session.execute(few.limit(limit).offset(offset))).all(), len(ids))
    if total is None:
        total = (
            await session.execute(select(func.count()).select_from(run_id.class_).where(*index_conditions))
        ).scalar_one()
    if total <= offset:
        return RunPage([], total)
    run_id, index_conditions, sorting = _choose_index_table(conditions, order)
    alternatives = _value_alternatives(index_conditions) if run_id is RunValue.run_id else None
    if alternatives is None:
        page = page_from_nearer_end(select(run_id).where(*index_conditions), sorting, total, limit=limit, offset=offset)
    else:
        page = _merged_page(*alternatives, sorting, total, limit=limit, offset=offset)
    rows = await session.execute(select(*columns).where(Run.id.in_(page)).order_by(*order))
    return RunPage(rows.all(), total)


def page_from_nearer_end(
    found: Select[Any], order: Sequence[UnaryExpression[Any]], total: int, *, limit: int, offset: int
) -> Select[Any]:
    """Returns a page read from the nearer end of ``total`` rows, so that the last page costs no more than the
    first. Its rows still need sorting."""
    if offset <= total // 2:
        return found.order_by(*order).limit(limit).offset(offset)
    count = max(0, min(limit, total - offset))
    return found.order_by(*reverse_sort(order)).limit(count).offset(max(0, total - offset - count))


def _value_alternatives(
    conditions: Sequence[ColumnElement[bool]],
) -> tuple[list[str], list[ColumnElement[bool]]] | None:
    """Returns the values of the only ``value IN (…)`` condition and the other conditions; None without such one."""
    parts: list[ColumnElement[bool]] = []
    for condition in conditions:
        is_and = isinstance(condition, BooleanClauseList) and condition.operator is operators.and_
        parts += condition.clauses if is_and else (condition,)
    lists = [part for part in parts if getattr(part, "operator", None) is operators.in_op]
    if len(lists) != 1 or column_names(lists[0]) != {"value"}:
        return None
    return list(dict.fromkeys(lists[0].right.value)), [part for part in parts if part is not lists[0]]


def _merged_page(
    values: Sequence[str],
    others: Sequence[ColumnElement[bool]],
    order: Sequence[UnaryExpression[Any]],
    total: int,
    *,
    limit: int,
    offset: int,
) -> Select[Any]:
    """Merges :func:`page_from_nearer_end` over several values: the index is ordered within each value but not
    across them, so only as many rows of each are read as the page may need."""
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
    """Returns the ids of all matches, unordered."""
    run_id, index_conditions, _ = _choose_index_table(conditions, ())
    return select(run_id).where(*index_conditions)


def run_conditions(conditions: FilterConditions) -> list[ColumnElement[bool]]:
    """Returns all conditions for a SELECT from runs."""
    return [
        *conditions.on_columns,
        *(Run.id.in_(_ids_with_value(value, conditions)) for value in conditions.on_members),
    ]


def _choose_index_table(
    conditions: FilterConditions, order: Sequence[UnaryExpression[Any]]
) -> tuple[InstrumentedAttribute[int], list[ColumnElement[bool]], Sequence[Any]]:
    """Returns (id, conditions, order) on the table whose index covers the most conditions: it holds a value
    together with the run's agent and time."""
    column_conditions = conditions.on_columns
    if not conditions.on_members or not all(
        column_names(part) <= _SHARED_COLUMNS.keys() for part in (*column_conditions, *order)
    ):
        return Run.id, run_conditions(conditions), order
    first, *others = conditions.on_members
    narrow = [
        *map(_on_run_values, column_conditions),
        first,
        *(RunValue.run_id.in_(_ids_with_value(value, conditions)) for value in others),
    ]
    return RunValue.run_id, narrow, [_on_run_values(by) for by in order]


def _ids_with_value(value: ColumnElement[bool], conditions: FilterConditions) -> Select[Any]:
    """Selects the ids of the organization's runs that have a value."""
    same_organization = [
        _on_run_values(part) for part in conditions.on_columns if column_names(part) == {"organization_id"}
    ]
    return select(RunValue.run_id).where(*same_organization, value).correlate(None)


def column_names(element: Any) -> set[str]:
    """Returns the names of the columns that a condition or an order uses."""
    return {part.key for part in visitors.iterate(element) if isinstance(part, schema.Column)}


def _on_run_values(element: ColumnElement[Any]) -> Any:
    """Rewrites an expression from ``runs`` to ``run_values``."""

    def replace_column(element: Any, **_: Any) -> Any:
        return _SHARED_COLUMNS[element.key].expression if isinstance(element, schema.Column) else None

    return visitors.replacement_traverse(element, {}, replace_column)


async def load_past_calls(session: AsyncSession, organization_id: int, workflow_id: int) -> Sequence[Any]:
    """Returns (status, outcome, calls, talked_s, cost_cents) of a workflow's latest outbound calls that are over."""
    latest = (
        select(Run.status, Run.outcome, Run.duration, Run.cost_cents)
        .where(
            Run.organization_id == organization_id,
            Run.workflow_id == workflow_id,
            Run.direction == "outbound",
            Run.status.not_in(sorted(LIVE_STATES)),
        )
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(_MAX_LATEST_CALLS)
        .subquery()
    )
    rows = await session.execute(
        select(
            latest.c.status,
            latest.c.outcome,
            func.count().label("calls"),
            func.coalesce(func.sum(latest.c.duration), 0).label("talked_s"),
            func.sum(latest.c.cost_cents).label("cost_cents"),
        ).group_by(latest.c.status, latest.c.outcome)
    )
    return rows.all()


async def load_session_rows(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> Sequence[Any]:
    """Returns each run's report data: its times, whether it has a recording, and its extracted variables."""
    rows = await session.execute(
        select(
            Run.id, Run.workflow_id, Run.duration, Run.started_at, Run.ended_at, Run.recording_key, Run.result,
            Run.is_success,
            Run.gathered_context[EXTRACTED].label("extracted"),
        ).where(Run.organization_id == organization_id, Run.id.in_(run_ids))
    )  # fmt: skip
    return rows.all()


async def load_report_rows(
    session: AsyncSession,
    organization_id: int,
    columns: Sequence[Any],
    conditions: FilterConditions,
    *,
    after: tuple[datetime, int] | None,
    limit: int,
) -> Sequence[Any]:
    """Returns rows of ``columns`` and the extracted variables, newest first, starting after a (creation time, id)."""
    query = select(*columns, Run.gathered_context[EXTRACTED].label(EXTRACTED)).where(
        Run.organization_id == organization_id, *run_conditions(conditions)
    )
    if after is not None:
        query = query.where(tuple_(Run.created_at, Run.id) < after)
    return (await session.execute(query.order_by(Run.created_at.desc(), Run.id.desc()).limit(limit))).all()


async def extracted_names(
    session: AsyncSession, organization_id: int, conditions: Sequence[ColumnElement[bool]]
) -> list[str]:
    """Returns the names of the variables that any matching run extracted, sorted."""
    variables = Run.gathered_context[EXTRACTED]
    keys = (
        select(func.jsonb_object_keys(variables, type_=Text).label("name"))
        .where(Run.organization_id == organization_id, *conditions)
        .where(func.jsonb_typeof(variables, type_=Text) == "object")
        .subquery()
    )
    found = await session.scalars(select(keys.c.name).distinct().order_by(keys.c.name).limit(_MAX_EXTRACTED))
    return list(found)
