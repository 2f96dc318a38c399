"""Run queries for superusers, across all organizations."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Numeric,
    UnaryExpression,
    and_,
    any_,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql import operators
from sqlalchemy.sql.util import ClauseAdapter

from offhook.kit.filters.criteria import FilterConditions, FilterField, NamedValueColumns, parse_conditions, parse_sort
from offhook.runs.lists import run_count_queries
from offhook.runs.lists.listing import COLUMNS, FILTERS, SORTS, RunQuery
from offhook.runs.lists.queries import RunPage, column_names, find_runs, page_from_nearer_end
from offhook.runs.tables import Run, RunValue

ALL_FILTERS: Final[Mapping[str, FilterField]] = {
    **FILTERS,
    "organization_id": FilterField.for_column(Run.organization_id, "number", "select"),
}
# Counting a million rows takes too long for a page count that is never used.
MAX_COUNTED: Final = 50_000
# No index covers other columns across all organizations, so only this many of the newest runs are considered, and fewer
# when their values have to be looked up.
WINDOW: Final = 25_000
WINDOW_OF_VALUES: Final = 4_000
# A call starts at most this long before its end.
_MAX_CALL: Final = timedelta(hours=6)

_COLUMNS: Final = (*COLUMNS, Run.organization_id, Run.created_by)
_INDEXED: Final = frozenset({"id", "created_at"})
_WINDOW_COLUMNS: Final = (
    *(field.column for field in ALL_FILTERS.values() if not isinstance(field.column, NamedValueColumns)),
    Run.call_id_lower,
)


async def find_runs_across_organizations(session: AsyncSession, query: RunQuery) -> RunPage:
    """Returns rows of ``listing.COLUMNS``, ``organization_id`` and ``created_by``, and the number of matches (at most
    50,000 with filters).

    When the filters name an organization, all of its runs are considered. Otherwise, filters on more than ``id``
    and ``created_at`` consider only the newest runs that those two leave.
    """
    limit, offset = query.page.limit, query.page.offset
    order = parse_sort(query.sort_by, query.sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = parse_conditions(query.filters, ALL_FILTERS)
    exact = [
        part for part in conditions.on_columns if getattr(part, "operator", None) in (operators.eq, operators.in_op)
    ]
    if any(column_names(part) == {"organization_id"} for part in exact):
        return await find_runs(session, _COLUMNS, conditions, order, limit=limit, offset=offset)
    if conditions.on_members or not all(column_names(part) <= _INDEXED for part in conditions.on_columns):
        return await _find_in_window(session, conditions, order, limit=limit, offset=offset)
    if not conditions.on_columns:
        total = await run_count_queries.count_all_runs(session)
        ids = page_from_nearer_end(select(Run.id), order, total, limit=limit, offset=offset)
    else:
        counted = select(Run.id).where(*conditions.on_columns).limit(MAX_COUNTED).subquery()
        total = (await session.execute(select(func.count()).select_from(counted))).scalar_one()
        ids = select(Run.id).where(*conditions.on_columns).order_by(*order).limit(limit).offset(offset)
    if total <= WINDOW and any(column_names(part) == {"id"} for part in conditions.on_columns):
        # Read by id and sorted: using the sort index would read from the newest run down to these.
        these = (
            select(Run.id, Run.created_at, Run.duration).where(*conditions.on_columns).cte().prefix_with("MATERIALIZED")
        )
        sorting = [ClauseAdapter(these).traverse(by) for by in order]
        ids = select(these.c.id).order_by(*sorting).limit(limit).offset(offset)
    rows = await session.execute(select(*_COLUMNS).where(Run.id.in_(ids)).order_by(*order))
    return RunPage(rows.all(), total)


async def _find_in_window(
    session: AsyncSession,
    conditions: FilterConditions,
    order: Sequence[UnaryExpression[Any]],
    *,
    limit: int,
    offset: int,
) -> RunPage:
    window = WINDOW_OF_VALUES if conditions.on_members else WINDOW
    newest = (
        select(*_WINDOW_COLUMNS)
        .where(*(part for part in conditions.on_columns if column_names(part) <= _INDEXED))
        .order_by(Run.created_at.desc(), Run.id.desc())
    )
    seen = newest.limit(window).subquery()
    in_window = ClauseAdapter(seen)
    window_conditions = [in_window.traverse(part) for part in conditions.on_columns]
    # All of the window's ids at once: an index is scanned once instead of probed thousands of times. The first and the last
    # of them leave out the partitions of other runs.
    seen_ids = select(
        func.array_agg(seen.c.id).label("ids"), func.min(seen.c.id).label("first"), func.max(seen.c.id).label("last")
    ).cte("seen_ids")
    ids_seen = cast(select(seen_ids.c.ids).scalar_subquery(), ARRAY(BigInteger))
    bounds = (select(seen_ids.c.first).scalar_subquery(), select(seen_ids.c.last).scalar_subquery())
    window_conditions += [
        seen.c.id.in_(
            select(RunValue.run_id).where(RunValue.run_id == any_(ids_seen), RunValue.run_id.between(*bounds), part)
        )
        for part in conditions.on_members
    ]
    sorting = [in_window.traverse(by) for by in order]
    if conditions.on_members:
        # Looking up values costs much more than sending a few thousand ids, so it happens once.
        matching: ColumnElement[Any] = func.array_agg(aggregate_order_by(seen.c.id, *sorting)).filter(
            *window_conditions
        )
    else:
        matching = func.count().filter(*window_conditions)
    looked_at, matched = (await session.execute(select(func.count(), matching).select_from(seen))).one()
    total = len(matched or ()) if conditions.on_members else matched
    limited = window if looked_at == window else None
    if total <= offset:
        return RunPage([], total, limited)
    ids: ColumnElement[bool]
    if conditions.on_members:
        ids = Run.id == any_(cast(matched[offset : offset + limit], ARRAY(BigInteger)))
    else:
        ids = Run.id.in_(select(seen.c.id).where(*window_conditions).order_by(*sorting).limit(limit).offset(offset))
    rows = await session.execute(select(*_COLUMNS).where(ids).order_by(*order))
    return RunPage(rows.all(), total, limited)


async def count_leases_by_worker(session: AsyncSession) -> dict[str, tuple[int, int]]:
    """Returns how many runs each process holds, and how many of their leases are over. Runs that only ring are left
    out: nobody holds them."""
    expired = func.count().filter(Run.lease_until < func.clock_timestamp())
    rows = await session.execute(
        select(Run.worker_id, func.count(), expired)
        .where(Run.is_leased, Run.worker_id.is_not(None))
        .group_by(Run.worker_id)
    )
    return {str(worker): (held, over) for worker, held, over in rows}


async def list_runs_without_bill(
    session: AsyncSession, modes: Sequence[str], *, ended_after: timedelta, ended_before: timedelta, limit: int
) -> list[tuple[int, int]]:
    """Returns (organization, run) of these carriers' calls that ended at most ``ended_after`` and at least ``ended_before``
    ago and for which the carrier has not reported a price. It may have reported how long they were; calls that were not
    answered have no price."""
    now = func.clock_timestamp()
    was_connected = cast(Run.carrier_bill["duration_s"].astext, Numeric) > 0
    is_unrated = and_(Run.carrier_bill["cost"].astext.is_(None), was_connected)
    rows = await session.execute(
        select(Run.organization_id, Run.id)
        .where(Run.created_at > now - ended_after - _MAX_CALL, Run.created_at < now - ended_before)
        .where(Run.ended_at > now - ended_after, Run.ended_at < now - ended_before)
        .where(Run.mode.in_(modes), Run.call_id.is_not(None))
        .where(or_(Run.carrier_bill.is_(None), is_unrated))
        .order_by(Run.created_at, Run.id)
        .limit(limit)
    )
    return [(row.organization_id, row.id) for row in rows]
