"""Queries on transfers. Their ids are unguessable and known only to our recipients, so no query takes the
organization."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs import Run
from offhook.telephony.tables import PendingTransfer


async def find_transfer(session: AsyncSession, transfer_id: str) -> PendingTransfer | None:
    found = await session.execute(
        select(PendingTransfer)
        .where(PendingTransfer.transfer_id == transfer_id)
        .execution_options(populate_existing=True)
    )
    return found.scalar_one_or_none()


async def change_state(
    session: AsyncSession, transfer_id: str, sources: Collection[str], state: str, **known: Any
) -> bool:
    """Moves the transfer to ``state`` if it is in one of ``sources`` (compare and swap). Returns True on success."""
    moved = await session.execute(
        update(PendingTransfer)
        .where(PendingTransfer.transfer_id == transfer_id, PendingTransfer.state.in_(sorted(sources)))
        .values(state=state, **known)
        .returning(PendingTransfer.transfer_id)
        .execution_options(synchronize_session=False)
    )
    return moved.scalar_one_or_none() is not None


async def has_transfer(session: AsyncSession, run: Run, state: str) -> bool:
    """Returns whether a transfer of this run is in this state."""
    found = await session.scalars(
        select(PendingTransfer.transfer_id).where(PendingTransfer.run_id == run.id, PendingTransfer.state == state)
    )
    return found.first() is not None


async def set_destination(session: AsyncSession, transfer_id: str, destination_id: str) -> None:
    await session.execute(
        update(PendingTransfer)
        .where(PendingTransfer.transfer_id == transfer_id, PendingTransfer.destination_id.is_(None))
        .values(destination_id=destination_id)
        .execution_options(synchronize_session=False)
    )


async def find_destination_legs(session: AsyncSession, provider: str, call_ids: Collection[str]) -> set[str]:
    """Returns those of these calls that are the second leg of a transfer."""
    found = await session.scalars(
        select(PendingTransfer.destination_id).where(
            PendingTransfer.provider == provider, PendingTransfer.destination_id.in_(call_ids)
        )
    )
    return {call_id for call_id in found if call_id is not None}
