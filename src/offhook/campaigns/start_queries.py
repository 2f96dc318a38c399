"""Queries for drafts with a scheduled start, across organizations: one job starts them for all."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.tables import Campaign


@dataclass(frozen=True, slots=True)
class DueStart:
    """A draft that is due: who scheduled it, and for when."""

    campaign_id: int
    organization_id: int
    starts_at: datetime
    set_by: int | None
    set_by_key: int | None


async def list_due_starts(session: AsyncSession, now: datetime, *, after: int, limit: int) -> list[DueStart]:
    """Returns the next drafts of all organizations, by id, whose start is due and has not failed."""
    rows = await session.execute(
        select(
            Campaign.id,
            Campaign.organization_id,
            Campaign.starts_at,
            Campaign.start_set_by,
            Campaign.start_set_by_key,
        )
        .where(
            Campaign.status == "draft",
            Campaign.starts_at <= now,
            Campaign.start_problem.is_(None),
            Campaign.id > after,
        )
        .order_by(Campaign.id)
        .limit(limit)
    )
    return [
        DueStart(row.id, row.organization_id, row.starts_at, row.start_set_by, row.start_set_by_key) for row in rows
    ]


async def lock_due_start(session: AsyncSession, due: DueStart) -> Campaign | None:
    """Locks a draft whose schedule has not changed; None if it has, or while another transaction holds it."""
    return await session.scalar(
        select(Campaign)
        .where(
            Campaign.id == due.campaign_id,
            Campaign.organization_id == due.organization_id,
            Campaign.status == "draft",
            Campaign.starts_at == due.starts_at,
            Campaign.start_set_by.is_not_distinct_from(due.set_by),
            Campaign.start_set_by_key.is_not_distinct_from(due.set_by_key),
            Campaign.start_problem.is_(None),
        )
        .with_for_update(skip_locked=True, key_share=True)
        .execution_options(populate_existing=True)
    )
