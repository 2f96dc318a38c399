"""Queries for saved views; each takes the organization."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.tables import RunView


async def list_views(session: AsyncSession, organization_id: int, user_id: int | None) -> Sequence[RunView]:
    """Returns the person's own views and the shared ones, by name."""
    rows = await session.scalars(
        select(RunView)
        .where(RunView.organization_id == organization_id, _is_visible(user_id))
        .order_by(func.lower(RunView.name), RunView.id)
    )
    return rows.all()


async def find_view(session: AsyncSession, organization_id: int, user_id: int | None, view_id: int) -> RunView | None:
    """Returns a view that the person sees."""
    return await session.scalar(
        select(RunView)
        .where(RunView.id == view_id, RunView.organization_id == organization_id, _is_visible(user_id))
        .with_for_update()
    )


async def lock_views(session: AsyncSession, organization_id: int, user_id: int | None) -> dict[str, int]:
    """Returns the ids of the person's views by name in lower case; no one else adds one before the transaction ends."""
    await session.execute(
        select(func.pg_advisory_xact_lock(func.hashtextextended(f"offhook.run_views.{organization_id}", user_id or 0)))
    )
    rows = await session.execute(
        select(RunView.id, RunView.name).where(RunView.organization_id == organization_id, _is_own(user_id))
    )
    return {row.name.lower(): row.id for row in rows}


async def delete_view(session: AsyncSession, organization_id: int, view_id: int) -> None:
    await session.execute(delete(RunView).where(RunView.id == view_id, RunView.organization_id == organization_id))


def _is_own(user_id: int | None) -> ColumnElement[bool]:
    return RunView.user_id.is_(None) if user_id is None else RunView.user_id == user_id


def _is_visible(user_id: int | None) -> ColumnElement[bool]:
    return or_(RunView.is_shared, _is_own(user_id))
