"""Statements on the sub-accounts of organizations at the platform's carrier."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.tables import CarrierSubAccount, NumberPurchase, PhoneNumber

CREATING: Final = "creating"
ACTIVE: Final = "active"
CLOSING: Final = "closing"
CLOSED: Final = "closed"
# A creation takes less: of an older one the process is gone, or its carrier's answer.
CLAIM_TIMEOUT: Final = timedelta(seconds=60)


def has_numbers() -> ColumnElement[bool]:
    """Returns whether a sub-account has numbers, or one is being bought in it."""
    numbers = exists().where(
        PhoneNumber.organization_id == CarrierSubAccount.organization_id,
        PhoneNumber.telephony_configuration_id == CarrierSubAccount.telephony_configuration_id,
        PhoneNumber.is_managed,
    )
    purchases = exists().where(
        NumberPurchase.organization_id == CarrierSubAccount.organization_id,
        NumberPurchase.telephony_configuration_id == CarrierSubAccount.telephony_configuration_id,
        NumberPurchase.state.in_(("buying", "bought")),
    )
    return numbers | purchases


async def lock_current(
    session: AsyncSession, organization_id: int, provider: str, parent_reference: str
) -> CarrierSubAccount | None:
    """Returns the sub-account that the organization has or is getting, locked."""
    row: CarrierSubAccount | None = await session.scalar(
        select(CarrierSubAccount)
        .where(
            CarrierSubAccount.organization_id == organization_id,
            CarrierSubAccount.provider == provider,
            CarrierSubAccount.parent_reference == parent_reference,
            CarrierSubAccount.state.in_((CREATING, ACTIVE)),
        )
        .with_for_update()
    )
    return row


async def add_sub_account(session: AsyncSession, organization_id: int, **values: Any) -> None:
    """Adds a sub-account that is to be created, unless the organization has one. Of two transactions at once one waits
    for the other."""
    await session.execute(
        insert(CarrierSubAccount).values(organization_id=organization_id, **values).on_conflict_do_nothing()
    )


async def list_open(session: AsyncSession, organization_id: int) -> Sequence[CarrierSubAccount]:
    """Returns the organization's sub-accounts that are not closed."""
    found = await session.scalars(
        select(CarrierSubAccount)
        .where(CarrierSubAccount.organization_id == organization_id, CarrierSubAccount.state != CLOSED)
        .order_by(CarrierSubAccount.id)
    )
    return found.all()


async def lock_claimed(
    session: AsyncSession, organization_id: int, sub_account_id: int, claimed_at: datetime
) -> CarrierSubAccount | None:
    """Returns the sub-account, locked, if it is being created under this claim."""
    row: CarrierSubAccount | None = await session.scalar(
        select(CarrierSubAccount)
        .where(
            CarrierSubAccount.organization_id == organization_id,
            CarrierSubAccount.id == sub_account_id,
            CarrierSubAccount.state == CREATING,
            CarrierSubAccount.claimed_at == claimed_at,
        )
        .with_for_update()
    )
    return row


async def lock_sub_account(
    session: AsyncSession, organization_id: int, sub_account_id: int
) -> CarrierSubAccount | None:
    row: CarrierSubAccount | None = await session.scalar(
        select(CarrierSubAccount)
        .where(CarrierSubAccount.organization_id == organization_id, CarrierSubAccount.id == sub_account_id)
        .with_for_update()
    )
    return row


async def is_in_use(session: AsyncSession, sub_account: CarrierSubAccount) -> bool:
    """Returns whether the sub-account has numbers, or one is being bought in it."""
    is_used = select(has_numbers()).where(
        CarrierSubAccount.organization_id == sub_account.organization_id, CarrierSubAccount.id == sub_account.id
    )
    return bool(await session.scalar(is_used))


async def attach_purchase(session: AsyncSession, purchase: NumberPurchase, sub_account: CarrierSubAccount) -> bool:
    """Notes that the purchase is made in the sub-account, which is locked. Returns False for one that was settled."""
    sub_account.emptied_at = None
    moved = await session.execute(
        update(NumberPurchase)
        .where(
            NumberPurchase.organization_id == sub_account.organization_id,
            NumberPurchase.id == purchase.id,
            NumberPurchase.state == "buying",
        )
        .values(telephony_configuration_id=sub_account.telephony_configuration_id, updated_at=func.now())
        .returning(NumberPurchase.id)
        .execution_options(synchronize_session=False)
    )
    return moved.scalar_one_or_none() is not None
