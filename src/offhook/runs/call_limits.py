"""The per-organization limit on concurrent calls, checked and claimed in one transaction."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.root import settings_of
from offhook.runs.errors import ConcurrentCallLimit
from offhook.runs.queries import count_live_calls, lock_call_slots

RETRY_AFTER_S: Final = 5


@dataclass(frozen=True, slots=True)
class CallCapacity:
    """An organization's concurrent call limit and its number of live calls."""

    limit: int
    live: int

    @property
    def free_slots(self) -> int:
        return max(0, self.limit - self.live)


async def call_capacity(session: AsyncSession, organization_id: int) -> CallCapacity:
    """Returns the organization's capacity. To add calls based on it, call ``queries.lock_call_slots`` first."""
    limit = await orgs.concurrency_limit(session, organization_id, settings_of(session))
    return CallCapacity(limit, await count_live_calls(session, organization_id))


async def take_call_slot(session: AsyncSession, organization_id: int) -> None:
    """Raises ConcurrentCallLimit (429) unless one more call may start; holds a lock until the transaction ends.

    The run that fills the slot must be inserted in the same transaction. Text chats need no slot.
    """
    await lock_call_slots(session, organization_id)
    capacity = await call_capacity(session, organization_id)
    if not capacity.free_slots:
        raise ConcurrentCallLimit(
            f"Concurrent call limit reached: your organization has {capacity.limit} live calls. Wait until one ends.",
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )
