"""The room for calls in all processes, checked before a call begins, so that no caller is answered in vain."""

import asyncio
import random
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from prometheus_client import Gauge
from sqlalchemy import Engine
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.nodes.queries import SILENT_AFTER, NodePlaces, list_accepting_servers
from offhook.runs.call_shares import PlaceRequest, exceeds_share
from offhook.runs.errors import ClusterFull
from offhook.runs.queries import count_calls_by_process, lock_cluster_room
from offhook.settings import Settings

# Calls are counted one by one when fewer places than this are left, or than this part of all: more than what the other
# processes give away between two beats.
MIN_COUNTED: Final = 50
COUNTED_PART: Final = 4
# How long a call that was sent to a process may take to get there.
ARRIVAL_S: Final = 10.0
RETRY_AFTER_S: Final = 5
PLACES = Gauge("offhook_cluster_places", "Places for calls of all processes that take calls, as this one read them.")
FREE_PLACES = Gauge("offhook_cluster_free_places", "Places that no call has or waits for, as this process read them.")
CALLS = Gauge("offhook_cluster_calls", "Live calls of all processes: carried, or waiting for their media.", ("state",))
NO_SERVER = "No server takes calls now: each has more work than it can do in time, or is about to stop. Try again soon."
OWN_SHARE = "Your organization has its share of the places for calls. Try again when one of its calls has ended."


@dataclass(frozen=True, slots=True)
class RoomReading:
    """The room as one look at the database found it. ``waiting`` are calls that no process carries yet."""

    read_at: float
    servers: tuple[NodePlaces, ...]
    carried: dict[str, int]
    waiting: int
    has_several_organizations: bool

    @property
    def places(self) -> int:
        return sum(server.call_limit for server in self.servers)

    @property
    def free(self) -> int:
        return sum(self.free_at(server) for server in self.servers) - self.waiting

    def free_at(self, server: NodePlaces) -> int:
        return max(0, server.call_limit - self.carried.get(server.id, 0))


class ClusterRoom:
    """What one process knows of the room. Its beat reads it; near full, each call is counted under a lock.

    Before the first beat, in a command or a test, nothing is known and nothing refused.
    """

    def __init__(self, node_id: str, settings: Settings, test_modes: Collection[str]) -> None:
        self.node_id = node_id
        self._settings = settings
        self._test_modes = test_modes
        self._reading: RoomReading | None = None
        self._given = 0  # since the reading
        self._sent: deque[tuple[float, str]] = deque()
        self._has_seen_several = False

    @property
    def is_watched(self) -> bool:
        """Returns whether calls ask for room before they begin."""
        return self._reading is not None

    async def read(self, session: AsyncSession) -> None:
        """Reads the room. The node's beat calls it in its own transaction."""
        servers = await list_accepting_servers(session, self.node_id)
        calls = await count_calls_by_process(session)
        organizations = {one for count in calls for one in (count.first_organization, count.last_organization)}
        self._has_seen_several |= len(organizations) > 1
        self._reading = RoomReading(
            read_at=_now(),
            servers=tuple(servers),
            carried={count.process: count.calls for count in calls if count.process is not None},
            waiting=sum(count.calls for count in calls if count.process is None),
            has_several_organizations=self._has_seen_several,
        )
        self._given = 0
        PLACES.set(self._reading.places)
        FREE_PLACES.set(self._reading.free)
        CALLS.labels("carried").set(sum(self._reading.carried.values()))
        CALLS.labels("waiting").set(self._reading.waiting)

    def is_test_mode(self, mode: str) -> bool:
        return mode in self._test_modes

    def require_accepting(self) -> None:
        """Raises ClusterFull (503) when no process takes new conversations: all drain, or their loops are late."""
        if self._reading is not None and not self._reading.servers:
            raise ClusterFull(NO_SERVER, headers={"Retry-After": str(RETRY_AFTER_S)})

    async def require_place(self, session: AsyncSession, request: PlaceRequest) -> None:
        """Takes a place for one call as :meth:`take_places` does. Raises ClusterFull (503)."""
        if await self.take_places(session, 1, request):
            return
        self.require_accepting()
        is_share = self._reading is not None and self._count_free(self._reading, request, self._given) > 0
        raise ClusterFull(OWN_SHARE if is_share else None, headers={"Retry-After": str(RETRY_AFTER_S)})

    async def take_places(self, session: AsyncSession, wanted: int, request: PlaceRequest) -> int:
        """Returns how many of ``wanted`` calls may begin. Their runs must be inserted in this transaction, which near
        full holds a lock until it ends, so that two processes never give the same place away."""
        if self._reading is None or not wanted:
            return wanted
        if self._is_near_full(self._reading, wanted):
            await lock_cluster_room(session)
            await self.read(session)
        given = self._count_given(self._reading, wanted, request, self._given)
        self._given += given
        return given

    def has_place(self, request: PlaceRequest) -> bool:
        """Returns whether a call may begin, as far as this process knows; takes nothing."""
        # What was given is left out: a campaign seldom dials all that it asked for.
        return self._reading is None or self._count_given(self._reading, 1, request, 0) > 0

    def _is_near_full(self, reading: RoomReading, wanted: int) -> bool:
        is_old = _now() - reading.read_at > SILENT_AFTER.total_seconds()
        counted = max(MIN_COUNTED, reading.places // COUNTED_PART)
        return is_old or reading.free - self._given - wanted < counted

    def _count_free(self, reading: RoomReading, request: PlaceRequest, given_before: int) -> int:
        kept = int(reading.places * self._settings.telephone_call_reserve) if request.is_test else 0
        return reading.free - given_before - kept

    def _count_given(self, reading: RoomReading, wanted: int, request: PlaceRequest, given_before: int) -> int:
        free, share = self._count_free(reading, request, given_before), self._settings.org_call_share
        given = 0
        while given < min(wanted, free):
            left = reading.free - given_before - given
            if reading.has_several_organizations and exceeds_share(
                request.held + given, left, reading.places, share, request.weight
            ):
                break
            given += 1
        return given

    def has_room_elsewhere(self) -> bool:
        """Returns whether another process has room, as far as this one knows."""
        reading = self._reading
        return reading is not None and any(
            reading.free_at(server) > 0 for server in reading.servers if server.id != self.node_id
        )

    def find_media_url(self) -> str | None:
        """Returns the address of a process with room, for the audio of a call that is answered now: this one's if it
        has room, else another one's, the freer the likelier. None: the common address, that of the balancer."""
        reading = self._reading
        if reading is None or not reading.servers:
            return None
        free = {server.id: reading.free_at(server) - self._count_sent(server.id) for server in reading.servers}
        if free.get(self.node_id, 0) > 0:
            chosen = next(server for server in reading.servers if server.id == self.node_id)
        elif any(count > 0 for count in free.values()):
            weights = [max(0, free[server.id]) for server in reading.servers]
            (chosen,) = random.choices(reading.servers, weights)  # noqa: S311 - spreads load, keeps no secret
        else:
            return None
        self._sent.append((_now(), chosen.id))
        return chosen.public_url

    def _count_sent(self, node_id: str) -> int:
        """Returns how many calls went to a process since a moment ago; some of them have arrived and count twice."""
        while self._sent and _now() - self._sent[0][0] > ARRIVAL_S:
            self._sent.popleft()
        return sum(one == node_id for _, one in self._sent)


_rooms: WeakKeyDictionary[Engine, ClusterRoom] = WeakKeyDictionary()


def remember_room(engine: Engine, room: ClusterRoom) -> None:
    """Makes the process's room known to its sessions."""
    _rooms[engine] = room


def cluster_room_of(session: AsyncSession) -> ClusterRoom | None:
    """Returns the room as this session's process knows it; None in a process without one."""
    return _rooms.get(session.get_bind().engine)


def _now() -> float:
    return asyncio.get_running_loop().time()
