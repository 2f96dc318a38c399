"""Statements on the data keys of organizations."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import StoredDataKey


async def find_newest(session: AsyncSession, organization_id: int, *, is_kept: bool = False) -> StoredDataKey | None:
    """``is_kept``: nobody deletes it before the end of this transaction."""
    newest = (
        select(StoredDataKey)
        .where(StoredDataKey.organization_id == organization_id)
        .order_by(StoredDataKey.number.desc())
        .limit(1)
    )
    return await session.scalar(newest.with_for_update(key_share=True, read=True) if is_kept else newest)


async def find_key(session: AsyncSession, organization_id: int, number: int) -> StoredDataKey | None:
    return await session.get(StoredDataKey, (organization_id, number))


async def add_key(session: AsyncSession, organization_id: int, number: int, sealed: bytes) -> None:
    """Stores a key; one that another process stored first under this number stays."""
    values = {"organization_id": organization_id, "number": number, "sealed_key": sealed}
    await session.execute(insert(StoredDataKey).values(values).on_conflict_do_nothing())


async def list_keys(session: AsyncSession, organization_id: int) -> Sequence[StoredDataKey]:
    return (
        await session.scalars(
            select(StoredDataKey)
            .where(StoredDataKey.organization_id == organization_id)
            .order_by(StoredDataKey.number)
            .with_for_update()
        )
    ).all()


async def delete_older(session: AsyncSession, organization_id: int, number: int) -> int:
    """Deletes the keys before this one and returns how many there were."""
    done = await session.execute(
        delete(StoredDataKey)
        .where(StoredDataKey.organization_id == organization_id, StoredDataKey.number < number)
        .returning(StoredDataKey.number)
    )
    return len(done.all())


async def store_sealed(session: AsyncSession, organization_id: int, number: int, sealed: bytes) -> None:
    await session.execute(
        update(StoredDataKey)
        .where(StoredDataKey.organization_id == organization_id, StoredDataKey.number == number)
        .values(sealed_key=sealed, sealed_at=func.now())
    )
