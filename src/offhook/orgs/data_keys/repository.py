"""Statements on the data keys of organizations."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from sqlalchemy import ARRAY, Integer, bindparam, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import StoredDataKey

# Every batch of events asks for it: built once, and read without objects of the ORM.
_NEWEST_OF: Final = text(
    "SELECT organization_id, number, sealed_key FROM data_keys WHERE organization_id = ANY(:organization_ids)"
    " AND number = (SELECT max(number) FROM data_keys AS other WHERE other.organization_id = data_keys.organization_id)"
    " ORDER BY organization_id FOR KEY SHARE"
).bindparams(bindparam("organization_ids", type_=ARRAY(Integer)))


class SealedKey(NamedTuple):
    """The columns of a key that are needed to open it."""

    organization_id: int
    number: int
    sealed_key: bytes


async def find_newest(session: AsyncSession, organization_id: int, *, is_kept: bool = False) -> StoredDataKey | None:
    """``is_kept``: it cannot be deleted before the end of this transaction."""
    newest = (
        select(StoredDataKey)
        .where(StoredDataKey.organization_id == organization_id)
        .order_by(StoredDataKey.number.desc())
        .limit(1)
    )
    return await session.scalar(newest.with_for_update(key_share=True, read=True) if is_kept else newest)


async def find_newest_of(session: AsyncSession, organization_ids: Collection[int]) -> Sequence[SealedKey]:
    """Returns the newest key of each of these organizations, which cannot be deleted before the end of this
    transaction."""
    rows = await session.execute(_NEWEST_OF, {"organization_ids": list(organization_ids)})
    return [SealedKey(*row) for row in rows]


async def list_numbers(session: AsyncSession, organization_id: int) -> Sequence[int]:
    """Returns the numbers of the organization's keys, the newest first."""
    rows = select(StoredDataKey.number).where(StoredDataKey.organization_id == organization_id)
    return (await session.scalars(rows.order_by(StoredDataKey.number.desc()))).all()


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
