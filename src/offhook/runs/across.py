"""What superusers ask of runs, across all organisations."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.filters import Field, parse_filters, parse_sort
from offhook.runs.listing import COLUMNS, FILTERS, SORTS, RunQuery
from offhook.runs.tables import Run

ALL_FILTERS: Final[Mapping[str, Field]] = {
    **FILTERS,
    "organization_id": Field.of(Run.organization_id, "number", "select"),
}
# Counting a million rows takes longer than anyone waits for a number of pages that nobody turns.
MAX_COUNTED: Final = 100_000


async def page(session: AsyncSession, query: RunQuery) -> tuple[Sequence[Any], int]:
    """Rows of ``listing.COLUMNS``, ``organization_id`` and ``created_by``, and how many match, 100,000 at most."""
    order = parse_sort(query.sort_by, query.sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = parse_filters(query.filters, ALL_FILTERS)
    counted = select(Run.id).where(*conditions).limit(MAX_COUNTED).subquery()
    total = (await session.execute(select(func.count()).select_from(counted))).scalar_one()
    rows = await session.execute(
        select(*COLUMNS, Run.organization_id, Run.created_by)
        .where(*conditions)
        .order_by(*order)
        .limit(query.page.limit)
        .offset(query.page.offset)
    )
    return rows.all(), total


async def counts(session: AsyncSession, organization_ids: Collection[int]) -> dict[int, int]:
    """How many runs each of these organisations has; those without any are left out."""
    rows = await session.execute(
        select(Run.organization_id, func.count())
        .where(Run.organization_id.in_(organization_ids))
        .group_by(Run.organization_id)
    )
    return {row[0]: row[1] for row in rows}


async def counts_of_workflows(session: AsyncSession, workflow_ids: Collection[int]) -> dict[int, int]:
    """How many runs each of these workflows has; those without any are left out."""
    rows = await session.execute(
        select(Run.workflow_id, func.count()).where(Run.workflow_id.in_(workflow_ids)).group_by(Run.workflow_id)
    )
    return {row[0]: row[1] for row in rows}
