"""The engine's three ways in: dial (a slot may be free), a run has ended, and the slow tick that misses nothing."""

from collections.abc import Sequence
from typing import Final

import structlog

from offhook.campaigns.engine.dialer import FENCE_S, Dialing
from offhook.campaigns.engine.error_backoff import MOST_ERRORS, Failing
from offhook.campaigns.engine.ports import Carrier, Silent, Store, Time
from offhook.campaigns.engine.settlement import Settling

SILENT_BATCH: Final = 200
LOOK_S: Final = 0.02
# Above what many workers begin at the same time, and far below what a night of crashes amounts to.
MOST_UNFINISHED: Final = 20
WORKERS_DIE: Final = (
    f"worker_lost: {MOST_UNFINISHED} attempts to dial in a row ended with the process that made them."
    " Look at the workers' log, and resume the campaign."
)

CANNOT_DIAL: Final = (
    "cannot_dial: {error}, {times} times in a row, when its next contacts were chosen. The worker's log says more;"
    " resume the campaign when that is mended."
)
CANNOT_SETTLE: Final = (
    "cannot_settle: {error}, {times} times in a row, when it was asked what became of attempt {attempt_id}."
    " The worker's log says more; resume the campaign when that is mended."
)
log = structlog.get_logger(__name__)


class Engine:
    """Any number of them work on one database, and each may die at any step.

    ``patience_s``: how long a carrier's silence about a dial is waited out; half as long again as phones may ring.
    """

    def __init__(self, store: Store, carrier: Carrier, time: Time, *, patience_s: float) -> None:
        self._store = store
        self._time = time
        self._failing = Failing()
        # A third of it by the clock in the database, the rest by that of the process that looks into it.
        self.settling = Settling(store, carrier, time, doubt_s=patience_s * 2 / 3)
        self.dialing = Dialing(store, carrier, time, self.settling, check_after_s=patience_s / 3)

    async def dial(self, organization_id: int) -> int:
        """The job ``campaign.dial``; how many calls it placed."""
        reserved = await self.dialing.reserve(organization_id)
        await self.dialing.ask(reserved)
        return len(reserved.placings)

    async def begin_job(self, organization_id: int) -> bool:
        """Before a job dials: False when the jobs before it never came to an end, and every running campaign of the
        organization was paused for it. :meth:`end_job` says that this one did."""
        async with self._store.transaction() as tx:
            if await tx.pass_begins(organization_id) <= MOST_UNFINISHED:
                return True
            for campaign_id in await tx.running_ids(organization_id):
                await tx.set_status(campaign_id, "paused", WORKERS_DIE, self._time.now())
            await tx.pass_ended(organization_id)
            return False

    async def end_job(self, organization_id: int) -> None:
        async with self._store.transaction() as tx:
            await tx.pass_ended(organization_id)

    async def dial_one_by_one(self, organization_id: int) -> bool:
        """After a pass that raised: each running campaign by itself, so that one does not keep the others from dialling.

        Whose pass raises ``MOST_ERRORS`` times in a row is paused. False: it is not known yet who that will be.
        """
        async with self._store.transaction() as tx:
            campaign_ids = await tx.running_ids(organization_id)
        is_known = True
        for campaign_id in campaign_ids:
            key = ("campaign", campaign_id)
            try:
                reserved = await self.dialing.reserve(organization_id, campaign_id)
            except Exception as error:  # the job loop: the others are dialled all the same
                log.exception("campaign_pass_failed", campaign_id=campaign_id)
                if self._failing.failed(key, self._time.monotonic()):
                    await self._pause(campaign_id, CANNOT_DIAL.format(error=type(error).__name__, times=MOST_ERRORS))
                    self._failing.went_well(key)
                else:
                    is_known = False
                continue
            self._failing.went_well(key)
            await self.dialing.ask(reserved)
        return is_known

    async def _pause(self, campaign_id: int, reason: str) -> None:
        async with self._store.transaction() as tx:
            await tx.set_status(campaign_id, "paused", reason, self._time.now())

    async def runs_ended(self, runs: Sequence[tuple[int, int]]) -> None:
        """On ``CallEnded`` and ``RunFinished`` of ``(organization, run)``; hearing it twice, or of a run of nobody's
        campaign, is fine."""
        await self.settling.runs_ended(runs)

    async def dials_have_begun(self, organization_id: int, campaign_id: int) -> None:
        """Call it after a pause was committed: when it returns, no dial that was committed before it begins any more.

        The carrier has answered for each of them, or so much time has passed that they may not begin.
        """
        began = self._time.monotonic()
        while self._time.monotonic() - began < FENCE_S:
            async with self._store.transaction() as tx:
                if not await tx.dials_on_their_way(organization_id, campaign_id):
                    return
            await self._time.sleep(LOOK_S)

    async def tick(self) -> None:
        """The job ``campaign.tick``: what a dead process left, and what nobody was woken for."""
        async with self._store.transaction() as tx:
            silent = await tx.silent(self._time.now(), SILENT_BATCH + len(self._failing))
            await tx.cancel_leftovers(self._time.now())
        errors = [error for one in silent if (error := await self._look_into(one)) is not None]
        async with self._store.transaction() as tx:
            for organization_id in await tx.running_organizations():
                await tx.wake(organization_id, None)
        if errors:
            raise errors[0]

    async def _look_into(self, one: Silent) -> Exception | None:
        """What it raised. One that raises every time is put off, so that the others have their turn."""
        key = ("attempt", one.attempt_id)
        if self._failing.is_put_off(key, self._time.monotonic()):
            return None
        try:
            await self.settling.look_into(one.organization_id, one.run_id)
        except Exception as error:  # the job loop: told when every other attempt was looked into
            log.exception("campaign_attempt_not_settled", attempt_id=one.attempt_id, campaign_id=one.campaign_id)
            if self._failing.failed(key, self._time.monotonic()):
                reason = CANNOT_SETTLE.format(error=type(error).__name__, times=MOST_ERRORS, attempt_id=one.attempt_id)
                await self._pause(one.campaign_id, reason)
            return error
        self._failing.went_well(key)
        return None
