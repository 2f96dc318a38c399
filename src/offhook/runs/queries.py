"""Queries for live calls, used by other domains to enforce limits."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.states import LIVE_STATES, TEXT_CHAT
from offhook.runs.tables import Run


async def lock_call_slots(session: AsyncSession, organization_id: int) -> None:
    """Prevents other transactions from adding calls of this organization until this one ends."""
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.call_slots', :id))"), {"id": organization_id}
    )


async def lock_cluster_room(session: AsyncSession) -> None:
    """Prevents other transactions from counting the room of all processes until this one ends. Taken after an
    organization's own lock, never before it."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.cluster_room', 0))"))


@dataclass(frozen=True, slots=True)
class ProcessCalls:
    """The live calls that one process carries; ``process`` is None for those that none carries yet."""

    process: str | None
    calls: int
    first_organization: int
    last_organization: int


async def count_calls_by_process(session: AsyncSession) -> list[ProcessCalls]:
    """Counts the live calls of all organizations by the process that carries them; text chats do not count."""
    organization = Run.organization_id
    found = await session.execute(
        select(Run.worker_id, func.count(), func.min(organization), func.max(organization))
        .where(Run.status.in_(sorted(LIVE_STATES)), Run.mode != TEXT_CHAT)
        .group_by(Run.worker_id)
    )
    return [ProcessCalls(*row) for row in found]


async def count_calls_of_account(
    session: AsyncSession, organization_id: int, provider: str, configuration_id: int | None
) -> int:
    """Returns the number of live calls through one carrier account, outbound and inbound."""
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
    """Returns the number of live calls on each of our numbers, in both directions; unused numbers are left out."""
    ours = case((Run.direction == "inbound", Run.called_number), else_=Run.caller_number)
    found = await session.execute(
        select(ours, func.count())
        .where(Run.organization_id == organization_id, Run.status.in_(sorted(LIVE_STATES)), ours.in_(numbers))
        .group_by(ours)
    )
    return {row[0]: row[1] for row in found}


async def count_live_calls(session: AsyncSession, organization_id: int) -> int:
    """Returns the number of live calls of the organization; text chats do not count."""
    found = await session.execute(
        select(func.count())
        .select_from(Run)
        .where(Run.organization_id == organization_id, Run.status.in_(sorted(LIVE_STATES)), Run.mode != TEXT_CHAT)
    )
    return found.scalar_one()


async def count_inbound_calls_of(
    session: AsyncSession, organization_id: int, number: str, since: datetime
) -> tuple[int, int]:
    """Returns how many inbound calls of this caller are live, and how many began since then."""
    is_live = Run.status.in_(sorted(LIVE_STATES))
    found = await session.execute(
        select(func.count().filter(is_live), func.count().filter(Run.created_at >= since)).where(
            Run.organization_id == organization_id,
            Run.direction == "inbound",
            Run.caller_number == number,
            is_live | (Run.created_at >= since),
        )
    )
    row = found.one()
    return row[0], row[1]
