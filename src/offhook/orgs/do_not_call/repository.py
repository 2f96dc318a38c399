"""Statements on the do-not-call list."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.filters.criteria import like_pattern
from offhook.orgs.tables import DoNotCallEntry


async def find_listed(session: AsyncSession, organization_id: int, numbers: Collection[str]) -> set[str]:
    """Returns the ``numbers`` (E.164) that are on the list."""
    listed = await session.scalars(
        select(DoNotCallEntry.phone_number).where(
            DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.phone_number.in_(set(numbers))
        )
    )
    return set(listed)


async def insert_entries(
    session: AsyncSession, organization_id: int, rows: Sequence[Mapping[str, object]]
) -> Sequence[DoNotCallEntry]:
    """Inserts the rows whose number is not on the list yet and returns the new entries."""
    values = [{"organization_id": organization_id, **row} for row in rows]
    statement = insert(DoNotCallEntry).values(values).on_conflict_do_nothing().returning(DoNotCallEntry)
    return (await session.scalars(statement)).all()


async def find_entries_of_run(session: AsyncSession, organization_id: int, run_id: int) -> Sequence[DoNotCallEntry]:
    """Returns the entries that were made on this call."""
    entries = await session.scalars(
        select(DoNotCallEntry)
        .where(DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.run_id == run_id)
        .order_by(DoNotCallEntry.id)
    )
    return entries.all()


async def list_entries(
    session: AsyncSession, organization_id: int, *, search: str | None, limit: int, offset: int
) -> tuple[Sequence[DoNotCallEntry], int]:
    """Returns a page of entries, newest first, and the total count; ``search`` is a part of the number."""
    conditions = [DoNotCallEntry.organization_id == organization_id]
    if search:
        conditions.append(DoNotCallEntry.phone_number.like(like_pattern(search)))
    total = await session.scalar(select(func.count()).select_from(DoNotCallEntry).where(*conditions))
    entries = await session.scalars(
        select(DoNotCallEntry).where(*conditions).order_by(DoNotCallEntry.id.desc()).limit(limit).offset(offset)
    )
    return entries.all(), total or 0


async def delete_entry(
    session: AsyncSession, organization_id: int, *, entry_id: int | None, number: str | None
) -> DoNotCallEntry | None:
    """Deletes the entry with this id or number and returns it; None when the list has no such entry."""
    which = DoNotCallEntry.id == entry_id if entry_id is not None else DoNotCallEntry.phone_number == number
    return await session.scalar(
        delete(DoNotCallEntry).where(DoNotCallEntry.organization_id == organization_id, which).returning(DoNotCallEntry)
    )
