"""Statements on call policies and blocked callers."""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import BlockedCaller, StoredCallPolicy


async def find_policy(session: AsyncSession, organization_id: int) -> StoredCallPolicy | None:
    return await session.get(StoredCallPolicy, organization_id, populate_existing=True)


async def save_policy(session: AsyncSession, organization_id: int, values: Mapping[str, object]) -> None:
    statement = insert(StoredCallPolicy).values(organization_id=organization_id, **values)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["organization_id"], set_={**values, "updated_at": func.now()})
    )


async def is_blocked(session: AsyncSession, organization_id: int, number: str) -> bool:
    found = await session.scalar(
        select(BlockedCaller.id).where(
            BlockedCaller.organization_id == organization_id, BlockedCaller.phone_number == number
        )
    )
    return found is not None


async def list_blocked(
    session: AsyncSession, organization_id: int, *, limit: int, offset: int
) -> tuple[Sequence[BlockedCaller], int]:
    """Returns a page of entries, newest first, and the total count."""
    its = BlockedCaller.organization_id == organization_id
    total = await session.scalar(select(func.count()).select_from(BlockedCaller).where(its))
    found = await session.scalars(
        select(BlockedCaller).where(its).order_by(BlockedCaller.id.desc()).limit(limit).offset(offset)
    )
    return found.all(), total or 0


async def insert_blocked(
    session: AsyncSession, organization_id: int, number: str, values: Mapping[str, object]
) -> BlockedCaller | None:
    """Returns the new entry; None when the number is already blocked."""
    return await session.scalar(
        insert(BlockedCaller)
        .values(organization_id=organization_id, phone_number=number, **values)
        .on_conflict_do_nothing()
        .returning(BlockedCaller)
    )


async def find_blocked(session: AsyncSession, organization_id: int, number: str) -> BlockedCaller | None:
    return await session.scalar(
        select(BlockedCaller).where(
            BlockedCaller.organization_id == organization_id, BlockedCaller.phone_number == number
        )
    )


async def delete_blocked(session: AsyncSession, organization_id: int, entry_id: int) -> BlockedCaller | None:
    """Deletes the entry and returns it; None when there is no such entry."""
    return await session.scalar(
        delete(BlockedCaller)
        .where(BlockedCaller.organization_id == organization_id, BlockedCaller.id == entry_id)
        .returning(BlockedCaller)
    )
