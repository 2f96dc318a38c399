"""A process's heartbeat: it writes its own row in ``nodes`` and reads how much room the other processes have."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import structlog
from prometheus_client import Gauge
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import __version__
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.loop_lateness import LoopLateness
from offhook.nodes import repository
from offhook.nodes.queries import SEALED_LEVEL
from offhook.root import Root

BEAT_INTERVAL_S: Final = 2.0
_FAREWELL_TIMEOUT_S: Final = 2.0
LATENESS = Gauge("offhook_loop_lateness_seconds", "How late the event loop is: the median of five seconds.")
log = structlog.get_logger(__name__)

OnBeat = Callable[[AsyncSession], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class NodeDescription:
    """What a node says of itself once. ``call_limit`` is 0 for a worker."""

    kind: Literal["serve", "worker"]
    address: str | None = None
    call_limit: int = 0
    public_url: str | None = None


class NodeBeat:
    """Keeps one node's row until canceled, and then removes it. ``on_beat`` reads along in the same transaction.

    A beat that the database does not answer in time is given up; the next one comes as always.
    """

    def __init__(
        self,
        root: Root,
        description: NodeDescription,
        *,
        count_live: Callable[[], int] = lambda: 0,
        on_beat: OnBeat | None = None,
        interval_s: float = BEAT_INTERVAL_S,
    ) -> None:
        self._root = root
        self._description = description
        self._count_live = count_live
        self._on_beat = on_beat
        self._interval_s = interval_s
        self.lateness = LoopLateness()
        LATENESS.set_function(lambda: self.lateness.lateness_s)

    @property
    def is_overloaded(self) -> bool:
        return self.lateness.lateness_s * 1000 > self._root.settings.max_lateness_ms

    async def run(self) -> None:
        measuring = asyncio.create_task(self.lateness.measure(), name="loop-lateness")
        was_silent = False
        try:
            while True:
                try:
                    async with asyncio.timeout(self._interval_s):
                        await self.beat()
                    was_silent = False
                except DATABASE_ERRORS as error:
                    if not was_silent:
                        log.warning("node_beat_failed", error=type(error).__name__)
                    was_silent = True
                await asyncio.sleep(self._interval_s)
        finally:
            measuring.cancel()
            await asyncio.shield(self._say_goodbye())

    async def beat(self) -> None:
        what, is_draining = self._description, self._root.is_draining
        values = {
            "kind": what.kind,
            "address": what.address,
            "public_url": what.public_url,
            "version": __version__,
            "call_limit": what.call_limit,
            "live_calls": self._count_live(),
            "lateness_ms": round(self.lateness.lateness_s * 1000),
            "is_draining": is_draining,
            "is_accepting": not is_draining and not self.is_overloaded,
            "reads_encrypted_words": True,
            "reads_sealed_rows": True,
            "sealed_level": SEALED_LEVEL,
        }
        async with self._root.db.transaction() as session:
            await repository.write_beat(session, self._root.node_id, values)
            if self._on_beat is not None:
                await self._on_beat(session)

    async def _say_goodbye(self) -> None:
        with suppress(*DATABASE_ERRORS):
            async with asyncio.timeout(_FAREWELL_TIMEOUT_S), self._root.db.transaction() as session:
                await repository.remove_node(session, self._root.node_id)
