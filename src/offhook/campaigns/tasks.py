"""The engine's jobs. A job carries no plan, only a name: what it finds in the database decides what it does."""

import asyncio
from typing import Any, Final

from offhook.campaigns.engine import Engine
from offhook.campaigns.store import DIAL_JOB

TICK_JOB: Final = "campaign.tick"


class DialJobs:
    """Of many jobs for one organisation that come at once, this process makes one pass and, after it, one more."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._locks: dict[int, asyncio.Lock] = {}
        self._waiting: set[int] = set()

    async def dial(self, payload: dict[str, Any]) -> None:
        """The job ``campaign.dial`` ``{organization_id}``."""
        organization_id = int(payload["organization_id"])
        if organization_id in self._waiting:
            return  # the one that waits has not looked yet: it will see what this one was sent for
        lock = self._locks.setdefault(organization_id, asyncio.Lock())
        self._waiting.add(organization_id)
        try:
            await lock.acquire()
        finally:
            self._waiting.discard(organization_id)
        try:
            reserved = await self._engine.dialing.reserve(organization_id)
        finally:
            lock.release()
        await self._engine.dialing.ask(reserved)

    async def tick(self, _: dict[str, Any]) -> None:
        """The job ``campaign.tick``."""
        await self._engine.tick()


__all__ = ["DIAL_JOB", "TICK_JOB", "DialJobs"]
