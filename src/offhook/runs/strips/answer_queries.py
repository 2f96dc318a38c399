"""Queries for counts of answer times. Every one takes the organization.

Statements are built once, because building one takes longer than sending it.
"""

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
    tuple_,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by, array, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.strips.answer_histograms import BUCKETS
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


def _groups_query(key: ColumnElement[Any]) -> Select[Any]:
    """Selects the sum of everything first, then the groups with the most turns.

    One sum for each bucket takes a fifth of the time that unnested counts take: 0.2 s for 9,600 rows.
    """
    turns = _sum(AnswerHistogram.turns)
    is_total = func.grouping(key)
    return (
        select(
            key.label("key"),
            is_total.label("is_total"),
            _sum(AnswerHistogram.calls).label("calls"),
            turns.label("turns"),
            array([_sum(AnswerHistogram.counts[number]) for number in range(1, BUCKETS + 1)]).label("counts"),
        )
        .where(*_conditions())
        .group_by(func.grouping_sets(tuple_(key), tuple_()))
        .order_by(is_total.desc(), turns.desc(), key)
        .limit(bindparam("most", type_=Integer))
    )


def _sum(counted: Any) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(counted), 0), BigInteger)


_GROUPS: Final = {name: _groups_query(key) for name, key in _COLUMNS.items()}


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


async def group_answers(
    session: AsyncSession, organization_id: int, period: AnswerPeriod, group_by: GroupBy, limit: int
) -> tuple[AnswerCounts, Sequence[AnswerCounts]]:
    """Returns the counts of the whole period, whose key means nothing, and of the groups with the most turns."""
    its = {
        "organization_id": organization_id,
        "first": period.first,
        "last": period.last,
        "workflow_id": period.workflow_id,
        "most": limit + 1,
    }
    total, *groups = [
        AnswerCounts(row.key, row.calls, row.turns, dict(enumerate(row.counts)))
        for row in await session.execute(_GROUPS[group_by], its)
    ]
    return total, groups
