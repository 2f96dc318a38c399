"""The engine's jobs. A job carries no plan, only a name: what it finds in the database decides what it does."""

import asyncio
from typing import Any, Final

import structlog

from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.store import DIAL_JOB

TICK_JOB: Final = "campaign.tick"
COALESCE_DELAY_S: Final = 0.005
STOP_TIMEOUT_S: Final = 10.0
log = structlog.get_logger(__name__)


class DialJobs:
    """Of many calls for one organization that come at once, this process makes one pass and, after it, one more."""

    def __init__(self, engine: CampaignEngine) -> None:
        self._engine = engine
        self._locks: dict[int, asyncio.Lock] = {}
        self._waiting: set[int] = set()
        self._passes: set[asyncio.Task[None]] = set()

    async def run_dial_job(self, payload: dict[str, Any]) -> None:
        """The job ``campaign.dial`` ``{organization_id}``."""
        organization_id = int(payload["organization_id"])
        if not await self._engine.begin_job(organization_id):
            return
        try:
            await self._run_pass(organization_id)
        except Exception:  # the job loop: whoever is at fault, the others are dialled
            if not await self._engine.dial_one_by_one(organization_id):
                raise
            log.exception("campaign_pass_failed", organization_id=organization_id)
        finally:  # an error is no death; of that nobody would tell
            await self._engine.end_job(organization_id)

    def wake_dialing(self, organization_id: int) -> None:
        """Dial soon, in this process. A pass that fails is repeated by the job that is enqueued with every such call."""
        if organization_id in self._waiting:
            return
        making = asyncio.create_task(self._run_pass(organization_id), name=f"campaign-dial-{organization_id}")
        self._passes.add(making)
        making.add_done_callback(self._on_pass_done)

    async def close(self) -> None:
        """Let the passes of this process end: what they have reserved is dialled."""
        if self._passes:
            await asyncio.wait(self._passes, timeout=STOP_TIMEOUT_S)

    def _on_pass_done(self, making: asyncio.Task[None]) -> None:
        self._passes.discard(making)
        if not making.cancelled() and (error := making.exception()) is not None:
            log.warning("campaign_pass_failed", error=f"{type(error).__name__}: {error}")

    async def _run_pass(self, organization_id: int) -> None:
        if organization_id in self._waiting:
            return  # the one that waits has not looked yet: it will see what this one was sent for
        lock = self._locks.setdefault(organization_id, asyncio.Lock())
        self._waiting.add(organization_id)
        try:
            await lock.acquire()
            # Slots become free by the handful: a pass costs nearly the same for one as for many.
            await asyncio.sleep(COALESCE_DELAY_S)
        finally:
            self._waiting.discard(organization_id)
        try:
            reserved = await self._engine.dialer.reserve_calls(organization_id)
        finally:
            lock.release()
        await self._engine.dialer.place_calls(reserved)

    async def run_tick_job(self, _: dict[str, Any]) -> None:
        """The job ``campaign.tick``."""
        await self._engine.tick()


__all__ = ["DIAL_JOB", "TICK_JOB", "DialJobs"]
