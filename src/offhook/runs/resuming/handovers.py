"""Calls that pass from one process to another: given by the one whose line broke, or taken from one that is gone."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, Literal

import structlog

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.tasks import TaskTracker
from offhook.runs.resuming import resume_queries
from offhook.runs.resuming.call_states import CallStates
from offhook.runs.states import FINAL_STATES, LIVE_STATES
from offhook.voice.call_state import CallState

# How long a call whose line broke waits for its carrier to connect it again; then it has failed.
RECONNECT_TIMEOUT_S: Final = 6.0
# How long a process may take to say what became of a call whose media has ended, before it counts as gone.
OWNER_TIMEOUT_S: Final = 1.2
POLL_S: Final = 0.1
NextStep = Literal["connect", "hang_up"]
log = structlog.get_logger(__name__)


class CallHandovers:
    """One per process. ``modes`` are the channels whose calls are connected again when their media has ended; in those
    of ``page_modes`` the far end does so itself, and no carrier has an id of the call."""

    def __init__(self, db: Database, clock: Clock, states: CallStates, *, lease_s: float) -> None:
        self._db = db
        self._clock = clock
        self.states = states
        self._lease = timedelta(seconds=lease_s)
        self._tasks = TaskTracker()
        self.modes: set[str] = set()
        self.page_modes: set[str] = set()
        self.reconnect_timeout_s = RECONNECT_TIMEOUT_S

    async def close(self) -> None:
        await self._tasks.close()

    # -- by the process whose line broke --------------------------------------------------------------------------

    def note_over(self, organization_id: int, run_id: int) -> None:
        """Notes in the background that our side has ended the call."""
        self.states.forget(run_id)
        self._tasks.start(self._mark_over(organization_id, run_id), name="call-over")

    async def _mark_over(self, organization_id: int, run_id: int) -> None:
        try:
            async with self._db.transaction() as session:
                worker_id = self.states.worker_id
                await resume_queries.mark_over(session, organization_id, run_id, worker_id=worker_id)
        except DATABASE_ERRORS as error:
            log.warning("call_over_not_noted", run_id=run_id, error=type(error).__name__)

    async def give_call(
        self,
        organization_id: int,
        run_id: int,
        state: CallState,
        *,
        is_kept: bool,
        needs_carrier: bool,
        is_taken: Callable[[], bool],
    ) -> bool:
        """Offers a call to whoever its far end connects to next; returns whether it was taken, here or elsewhere.

        ``needs_carrier``: only a call that a carrier has comes back. ``is_taken``: whether this process carries the call
        again.
        """
        self.states.forget(run_id)
        worker_id = self.states.worker_id
        sealed = self.states.seal(organization_id, run_id, state) if is_kept else None
        if sealed is None:
            return False
        try:
            async with self._db.transaction() as session:
                run = await resume_queries.find_carrier_of_run(session, organization_id, run_id)
                if run is None or (needs_carrier and run.call_id is None):
                    return False
                await resume_queries.write_states(session, worker_id, {run_id: sealed})
                until = self._clock.now() + self._lease
                if not await resume_queries.release_run(
                    session, organization_id, run_id, worker_id=worker_id, until=until
                ):
                    found = await resume_queries.find_runs_of_others(session, [run_id], worker_id=worker_id)
                    return bool(found)
            return await self._wait_taken(organization_id, run_id, is_taken)
        except DATABASE_ERRORS as error:
            log.warning("call_not_handed_over", run_id=run_id, error=type(error).__name__)
            return is_taken()

    async def _wait_taken(self, organization_id: int, run_id: int, is_taken: Callable[[], bool]) -> bool:
        deadline = asyncio.get_running_loop().time() + self.reconnect_timeout_s
        while not is_taken():
            async with self._db.transaction() as session:
                run = await resume_queries.find_carrier_of_run(session, organization_id, run_id)
                is_late = asyncio.get_running_loop().time() >= deadline
                if run is None or run.status in FINAL_STATES or is_late:
                    until = self._clock.now() + self._lease
                    return not await resume_queries.reclaim_run(
                        session, organization_id, run_id, worker_id=self.states.worker_id, until=until
                    )
                if run.worker_id is not None:
                    return True
            await asyncio.sleep(POLL_S)
        return True

    # -- by the process that the carrier asks ---------------------------------------------------------------------

    async def decide(
        self,
        organization_id: int,
        run_id: int,
        *,
        is_repeated: bool = False,
        confirm: Callable[[], Awaitable[bool]] | None = None,
    ) -> NextStep:
        """Decides on a call whose carrier says that its media has ended: it is connected again, unless our side ended
        it. A process that does not say what became of the call is gone, and loses it.

        ``is_repeated``: a socket was opened after this question before, so that nobody loses the call by it. ``confirm``
        is asked before a process loses a call: whether the carrier still has the caller.
        """
        deadline = asyncio.get_running_loop().time() + OWNER_TIMEOUT_S
        while True:
            async with self._db.transaction() as session:
                run = await resume_queries.find_carrier_of_run(session, organization_id, run_id)
                if run is None or run.status not in LIVE_STATES or run.is_over:
                    return "hang_up"
                if run.has_state and not run.is_kept:
                    return "hang_up"
                if run.worker_id is None or is_repeated:
                    return "connect"
                is_late = asyncio.get_running_loop().time() >= deadline
                if is_late and confirm is None:
                    until = self._clock.now() + self._lease
                    is_released = await resume_queries.release_run(
                        session, organization_id, run_id, worker_id=run.worker_id, until=until
                    )
                    if is_released:
                        log.warning("call_taken_from_lost_process", run_id=run_id, node=run.worker_id)
                        return "connect"
            if is_late and confirm is not None:
                if not await confirm():
                    return "hang_up"
                confirm = None
                continue
            await asyncio.sleep(POLL_S)
