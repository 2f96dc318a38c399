"""Queries of the operator on the platform's carrier account and its sub-accounts, across organizations."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.accounts.sub_account_statements import ACTIVE, CLOSING, has_numbers
from offhook.telephony.tables import CarrierSubAccount, ManagedCarrierSetting, PhoneNumber


async def uses_sub_accounts(session: AsyncSession, provider: str, reference: str) -> bool:
    """Returns whether the operator has turned sub-accounts on for this account of the platform's."""
    row = await session.get(ManagedCarrierSetting, (provider, reference))
    return row is not None and row.uses_sub_accounts


async def set_uses_sub_accounts(session: AsyncSession, provider: str, reference: str, *, is_on: bool) -> None:
    values = {"provider": provider, "account_reference": reference, "uses_sub_accounts": is_on}
    await session.execute(
        insert(ManagedCarrierSetting)
        .values(**values)
        .on_conflict_do_update(
            index_elements=["provider", "account_reference"],
            set_={"uses_sub_accounts": is_on, "updated_at": func.now()},
        )
    )


async def list_sub_accounts(
    session: AsyncSession, *, limit: int | None, offset: int
) -> tuple[Sequence[tuple[CarrierSubAccount, int]], int]:
    """Returns all sub-accounts with the count of their numbers, newest first, and their total."""
    numbers = (
        select(func.count())
        .where(PhoneNumber.telephony_configuration_id == CarrierSubAccount.telephony_configuration_id)
        .scalar_subquery()
    )
    found = await session.execute(
        select(CarrierSubAccount, numbers).order_by(CarrierSubAccount.id.desc()).limit(limit).offset(offset)
    )
    total = await session.scalar(select(func.count()).select_from(CarrierSubAccount))
    return [(row[0], row[1]) for row in found], int(total or 0)


async def note_emptied(session: AsyncSession, now: datetime) -> None:
    """Notes since when active sub-accounts have had no numbers."""
    is_active = CarrierSubAccount.state == ACTIVE
    changes = (
        (CarrierSubAccount.emptied_at.is_(None) & ~has_numbers(), now),
        (CarrierSubAccount.emptied_at.is_not(None) & has_numbers(), None),
    )
    for condition, emptied_at in changes:
        await session.execute(
            update(CarrierSubAccount)
            .where(is_active, condition)
            .values(emptied_at=emptied_at)
            .execution_options(synchronize_session=False)
        )


async def list_closable(
    session: AsyncSession, emptied_before: datetime, limit: int = 50
) -> Sequence[CarrierSubAccount]:
    """Returns sub-accounts without numbers for long enough, and those whose closing did not come through."""
    found = await session.scalars(
        select(CarrierSubAccount)
        .where(
            ((CarrierSubAccount.state == ACTIVE) & (CarrierSubAccount.emptied_at < emptied_before))
            | (CarrierSubAccount.state == CLOSING)
        )
        .order_by(CarrierSubAccount.emptied_at.nulls_first(), CarrierSubAccount.id)
        .limit(limit)
    )
    return found.all()
