"""The engine's jobs. A job carries no plan, only a name: the database decides what it does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog

from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.store import DIAL_JOB
from offhook.kit.json_values import JsonObject

TICK_JOB: Final = "campaign.tick"
COALESCE_DELAY_S: Final = 0.005
STOP_TIMEOUT_S: Final = 10.0
log = structlog.get_logger(__name__)


class DialJobs:
    """Coalesces dial requests: for many concurrent ones of an organization, this process makes
    one pass and one more.
    """

    def __init__(self, engine: CampaignEngine) -> None:
        self._engine = engine
        self._locks: dict[int, asyncio.Lock] = {}
        self._waiting: set[int] = set()
        self._passes: set[asyncio.Task[None]] = set()

    async def run_dial_job(self, payload: JsonObject) -> None:
        """Runs the job ``campaign.dial`` ``{organization_id}``."""
        organization_id = payload["organization_id"]
        assert isinstance(organization_id, int)
        if not await self._engine.begin_job(organization_id):
            return
        try:
            await self._run_pass(organization_id)
        except Exception:  # the job loop: one broken campaign must not stop the others
            if not await self._engine.dial_one_by_one(organization_id):
                raise
            log.exception("campaign_pass_failed", organization_id=organization_id)
        finally:  # an error is not a crash, and only crashes count as unfinished
            await self._engine.end_job(organization_id)

    def wake_dialing(self, organization_id: int) -> None:
        """Starts a pass in this process. The job enqueued with every such call repeats a failed pass."""
        if organization_id in self._waiting:
            return
        task = asyncio.create_task(self._run_pass(organization_id), name=f"campaign-dial-{organization_id}")
        self._passes.add(task)
        task.add_done_callback(self._on_pass_done)

    async def close(self) -> None:
        """Waits for the passes of this process to end, so that their reserved calls are dialed."""
        if self._passes:
            await asyncio.wait(self._passes, timeout=STOP_TIMEOUT_S)

    def _on_pass_done(self, task: asyncio.Task[None]) -> None:
        self._passes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("campaign_pass_failed", error=f"{type(error).__name__}: {error}")

    async def _run_pass(self, organization_id: int) -> None:
        if organization_id in self._waiting:
            return  # the waiting pass has not looked yet: it will see the new work too
        await self._engine.run_dial_pass(organization_id, reservation_turn=self._reservation_turn(organization_id))

    @asynccontextmanager
    async def _reservation_turn(self, organization_id: int) -> AsyncIterator[None]:
        lock = self._locks.setdefault(organization_id, asyncio.Lock())
        self._waiting.add(organization_id)
        try:
            await lock.acquire()
            try:
                # Slots become free in batches: a pass costs nearly the same for one as for many.
                await asyncio.sleep(COALESCE_DELAY_S)
            except BaseException:
                lock.release()
                raise
        finally:
            self._waiting.discard(organization_id)
        try:
            yield
        finally:
            lock.release()

    async def run_tick_job(self, _: JsonObject) -> None:
        """Runs the job ``campaign.tick``."""
        await self._engine.tick()


__all__ = ["DIAL_JOB", "TICK_JOB", "DialJobs"]
