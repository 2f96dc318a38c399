"""The per-organization limit on concurrent calls, checked and claimed in one transaction."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.root import settings_of
from offhook.runs.call_shares import PlaceRequest
from offhook.runs.cluster_room import cluster_room_of
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


async def take_call_slot(session: AsyncSession, organization_id: int, mode: str) -> None:
    """Raises ConcurrentCallLimit (429) or ClusterFull (503) unless one more call may start; holds a lock until the
    transaction ends.

    The run that fills the slot must be inserted in the same transaction. Text chats need no slot.
    """
    await lock_call_slots(session, organization_id)
    capacity = await call_capacity(session, organization_id)
    if not capacity.free_slots:
        raise ConcurrentCallLimit(
            f"Concurrent call limit reached: your organization has {capacity.limit} live calls. Wait until one ends.",
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )
    room = cluster_room_of(session)
    if room is not None:
        request = place_request(session, capacity, is_test=room.is_test_mode(mode))
        await room.require_place(session, request)


async def free_places(session: AsyncSession, capacity: CallCapacity, wanted: int) -> int:
    """Returns how many of ``wanted`` calls of an organization the processes have room for; holds a lock near full.

    The runs must be inserted in the same transaction, under the lock of the organization's slots.
    """
    room = cluster_room_of(session)
    if room is None:
        return wanted
    return await room.take_places(session, wanted, place_request(session, capacity))


def has_free_place(session: AsyncSession, capacity: CallCapacity) -> bool:
    """Returns whether the processes have room for a call of an organization, as far as this one knows."""
    room = cluster_room_of(session)
    return room is None or room.has_place(place_request(session, capacity))


def place_request(session: AsyncSession, capacity: CallCapacity, *, is_test: bool = False) -> PlaceRequest:
    weight = capacity.limit / settings_of(session).org_concurrency_limit
    return PlaceRequest(held=capacity.live, weight=weight, is_test=is_test)
