"""Queries for counts of answer times. Every one takes the organization.

Statements are built once, because building one takes longer than sending it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Integer,
    Select,
    bindparam,
    cast,
    column,
    func,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.strips.tables import AnswerHistogram

GroupBy = Literal["agent", "model", "carrier", "day"]
_COLUMNS: Final[Mapping[GroupBy, Any]] = {
    "agent": AnswerHistogram.workflow_id,
    "model": AnswerHistogram.model,
    "carrier": AnswerHistogram.carrier,
    "day": AnswerHistogram.day,
}


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """Turns by bucket (from 0) and calls of one agent, model, carrier or day; ``key`` is its value in the table."""

    key: Any
    calls: int
    turns: int
    by_bucket: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class AnswerPeriod:
    """The days that are counted, both included, and the agent if only one is."""

    first: date
    last: date
    workflow_id: int | None


def _conditions() -> tuple[ColumnElement[bool], ...]:
    agent: ColumnElement[int | None] = bindparam("workflow_id", type_=Integer)
    return (
        AnswerHistogram.organization_id == bindparam("organization_id", type_=Integer),
        AnswerHistogram.day.between(bindparam("first", type_=Date), bindparam("last", type_=Date)),
        or_(agent.is_(None), AnswerHistogram.workflow_id == agent),
    )


def _totals_query(key: ColumnElement[Any]) -> Select[Any]:
    """Selects the groups with the most turns."""
    turns = cast(func.sum(AnswerHistogram.turns), BigInteger)
    return (
        select(key.label("key"), cast(func.sum(AnswerHistogram.calls), BigInteger).label("calls"), turns.label("turns"))
        .where(*_conditions())
        .group_by(key)
        .order_by(turns.desc(), key)
        .limit(bindparam("most", type_=Integer))
    )


def _buckets_query(*keys: ColumnElement[Any], among: Sequence[ColumnElement[bool]] = ()) -> Select[Any]:
    """Selects turns by key and bucket; buckets without a turn are left out."""
    buckets = (
        func.unnest(AnswerHistogram.counts)
        .table_valued(column("turns", Integer), with_ordinality="number")
        .render_derived("buckets")
    )
    return (
        select(
            *(key.label("key") for key in keys),
            (buckets.c.number - 1).label("bucket"),
            cast(func.sum(buckets.c.turns), BigInteger).label("turns"),
        )
        .select_from(AnswerHistogram)
        .join(buckets, true())
        .where(*_conditions(), buckets.c.turns > 0, *among)
        .group_by(*keys, buckets.c.number)
    )


_TOTALS: Final = {name: _totals_query(key) for name, key in _COLUMNS.items()}
_BUCKETS: Final = {
    name: _buckets_query(key, among=[key.in_(bindparam("keys", expanding=True))]) for name, key in _COLUMNS.items()
}
_SUM: Final = select(
    cast(func.coalesce(func.sum(AnswerHistogram.calls), 0), BigInteger).label("calls"),
    cast(func.coalesce(func.sum(AnswerHistogram.turns), 0), BigInteger).label("turns"),
).where(*_conditions())
_SUM_BUCKETS: Final = _buckets_query()


async def add_to_histogram(session: AsyncSession, organization_id: int, row: Mapping[str, Any]) -> None:
    """Adds ``calls``, ``turns`` and ``counts`` to those of the same day, agent, model and carrier."""
    statement = insert(AnswerHistogram).values(organization_id=organization_id, **row)
    pairs = (
        func.unnest(AnswerHistogram.counts, statement.excluded["counts"])
        .table_valued(column("old", Integer), column("new", Integer), with_ordinality="number")
        .render_derived("pairs")
    )
    # Another version has other buckets at most behind these.
    total = func.coalesce(pairs.c.old, 0) + func.coalesce(pairs.c.new, 0)
    sums = select(func.array_agg(aggregate_order_by(total, pairs.c.number))).select_from(pairs).scalar_subquery()
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=[key.name for key in AnswerHistogram.__table__.primary_key],
            set_={
                "calls": AnswerHistogram.calls + statement.excluded["calls"],
                "turns": AnswerHistogram.turns + statement.excluded["turns"],
                "counts": sums,
            },
        )
    )


async def sum_answers(session: AsyncSession, organization_id: int, period: AnswerPeriod) -> AnswerCounts:
    """Returns the counts of the whole period; its key means nothing."""
    its = _parameters(organization_id, period)
    total = (await session.execute(_SUM, its)).one()
    rows = await session.execute(_SUM_BUCKETS, its)
    return AnswerCounts(0, total.calls, total.turns, {row.bucket: row.turns for row in rows})


async def group_answers(
    session: AsyncSession, organization_id: int, period: AnswerPeriod, group_by: GroupBy, limit: int
) -> Sequence[AnswerCounts]:
    """Returns the counts of the groups with the most turns, most first."""
    its = _parameters(organization_id, period)
    totals = (await session.execute(_TOTALS[group_by], its | {"most": limit})).all()
    if not totals:
        return []
    buckets: dict[Any, dict[int, int]] = defaultdict(dict)
    for row in await session.execute(_BUCKETS[group_by], its | {"keys": [row.key for row in totals]}):
        buckets[row.key][row.bucket] = row.turns
    return [AnswerCounts(row.key, row.calls, row.turns, buckets[row.key]) for row in totals]


def _parameters(organization_id: int, period: AnswerPeriod) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "first": period.first,
        "last": period.last,
        "workflow_id": period.workflow_id,
    }
