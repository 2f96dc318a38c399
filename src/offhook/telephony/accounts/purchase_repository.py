"""Statements on number purchases, which the installation makes for organizations."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.tables import NumberPurchase, PhoneNumber


async def list_unfinished(session: AsyncSession, before: datetime, limit: int = 50) -> Sequence[NumberPurchase]:
    """Returns unfinished purchases, the longest untouched first."""
    found = await session.execute(
        select(NumberPurchase)
        .where(NumberPurchase.state.in_(("buying", "bought")), NumberPurchase.updated_at < before)
        .order_by(NumberPurchase.updated_at)
        .limit(limit)
    )
    return found.scalars().all()


async def change_state(
    session: AsyncSession, purchase: NumberPurchase, sources: Collection[str], state: str, **known: Any
) -> bool:
    """Moves the purchase to ``state`` if it is in one of ``sources`` (compare and swap). Returns True on success."""
    moved = await session.execute(
        update(NumberPurchase)
        .where(NumberPurchase.id == purchase.id, NumberPurchase.state.in_(sorted(sources)))
        .values(state=state, updated_at=func.now(), **known)
        .returning(NumberPurchase.id)
        .execution_options(synchronize_session=False)
    )
    return moved.scalar_one_or_none() is not None


async def note_attempt(session: AsyncSession, purchase: NumberPurchase, error: str) -> None:
    await session.execute(
        update(NumberPurchase)
        .where(NumberPurchase.id == purchase.id)
        .values(attempts=NumberPurchase.attempts + 1, error=error, updated_at=func.now())
        .execution_options(synchronize_session=False)
    )


async def is_assigned(session: AsyncSession, number: str) -> bool:
    """Returns True if any organization has this number of the platform's."""
    found = await session.execute(
        select(PhoneNumber.id).where(PhoneNumber.address_normalized == number, PhoneNumber.is_managed).limit(1)
    )
    return found.scalar_one_or_none() is not None


async def lock_number(session: AsyncSession, number: str) -> None:
    """Keeps other transactions from assigning this number until this one ends."""
    key = f"offhook.purchase:{number}"
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": key})


async def mark_given_up(session: AsyncSession, purchase: NumberPurchase) -> None:
    """Marks a purchase that was reported as failed so that it is not completed later."""
    await session.execute(
        update(NumberPurchase)
        .where(NumberPurchase.id == purchase.id, NumberPurchase.state.in_(("buying", "bought")))
        .values(request=NumberPurchase.request.concat({"is_given_up": True}))
        .execution_options(synchronize_session=False)
    )


async def was_repeated(session: AsyncSession, purchase: NumberPurchase) -> bool:
    """Returns True if the organization has since bought a number with the same request."""
    found = await session.execute(
        select(NumberPurchase.id)
        .where(NumberPurchase.organization_id == purchase.organization_id, NumberPurchase.id > purchase.id)
        .where(NumberPurchase.state == "done", NumberPurchase.request == purchase.request)
        .limit(1)
    )
    return found.scalar_one_or_none() is not None


async def count_numbers(session: AsyncSession, organization_id: int) -> int:
    """Returns how many of the platform's numbers the organization has or is buying."""
    owned = select(func.count()).where(PhoneNumber.organization_id == organization_id, PhoneNumber.is_managed)
    pending = select(func.count()).where(
        NumberPurchase.organization_id == organization_id, NumberPurchase.state.in_(("buying", "bought"))
    )
    return int(await session.scalar(select(owned.scalar_subquery() + pending.scalar_subquery())) or 0)
