"""How many calls an organization may have at once, counted and taken in one transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import case, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.root import settings_of
from offhook.runs.errors import ConcurrentCallLimit
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run

TEXT_CHAT: Final = "textchat"
RETRY_AFTER_S: Final = 5


@dataclass(frozen=True, slots=True)
class CallCapacity:
    """How many calls an organization may have, and has."""

    limit: int
    live: int

    @property
    def free_slots(self) -> int:
        return max(0, self.limit - self.live)


async def lock_call_slots(session: AsyncSession, organization_id: int) -> None:
    """Nobody else adds a call of this organization until this transaction ends."""
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.call_slots', :id))"), {"id": organization_id}
    )


async def call_capacity(session: AsyncSession, organization_id: int) -> CallCapacity:
    """Take :func:`lock_call_slots` first when calls are added by it."""
    limit = await orgs.concurrency_limit(session, organization_id, settings_of(session))
    return CallCapacity(limit, await count_live_calls(session, organization_id))


async def take_call_slot(session: AsyncSession, organization_id: int) -> None:
    """Raise :class:`ConcurrentCallLimit` unless one more call may live; holds a lock until this transaction ends.

    The run that fills the slot must be inserted in the same transaction. Text chats need no slot.
    """
    await lock_call_slots(session, organization_id)
    room = await call_capacity(session, organization_id)
    if not room.free_slots:
        raise ConcurrentCallLimit(
            f"Your organization has {room.limit} live calls, as many as it may have: wait until one ends.",
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )


async def count_calls_of_account(
    session: AsyncSession, organization_id: int, provider: str, configuration_id: int | None
) -> int:
    """How many calls by one carrier account are not over, whoever placed or received them."""
    named = Run.initial_context["telephony_configuration_id"].astext
    found = await session.execute(
        select(func.count())
        .select_from(Run)
        .where(
            Run.organization_id == organization_id,
            Run.status.in_(sorted(LIVE_STATES)),
            Run.mode == provider,
            named.is_(None) if configuration_id is None else named == str(configuration_id),
        )
    )
    return found.scalar_one()


async def count_calls_by_number(
    session: AsyncSession, organization_id: int, numbers: Collection[str]
) -> dict[str, int]:
    """How many calls that are not over each of our numbers has, whoever began them; those without any are left out."""
    ours = case((Run.direction == "inbound", Run.called_number), else_=Run.caller_number)
    found = await session.execute(
        select(ours, func.count())
        .where(Run.organization_id == organization_id, Run.status.in_(sorted(LIVE_STATES)), ours.in_(numbers))
        .group_by(ours)
    )
    return {row[0]: row[1] for row in found}


async def count_live_calls(session: AsyncSession, organization_id: int) -> int:
    """How many calls of the organization are not over."""
    found = await session.execute(
        select(func.count())
        .select_from(Run)
        .where(Run.organization_id == organization_id, Run.status.in_(sorted(LIVE_STATES)), Run.mode != TEXT_CHAT)
    )
    return found.scalar_one()
