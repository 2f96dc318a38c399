"""The engine's entry points: dial (a slot may be free), settle (a run has ended), and the slow tick behind both."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

import structlog

from offhook.campaigns.engine.dialer import FENCE_S, CampaignDialer
from offhook.campaigns.engine.error_backoff import MAX_CONSECUTIVE_ERRORS, ErrorBackoff
from offhook.campaigns.engine.ports import CampaignCarrier, CampaignStore, EngineTime, StaleAttempt
from offhook.campaigns.engine.settlement import AttemptSettler

STALE_ATTEMPT_BATCH: Final = 200
PLACING_POLL_INTERVAL_S: Final = 0.02
# More than the workers that begin at once, and far fewer than the crashes of one night.
MAX_UNFINISHED_PASSES: Final = 20
WORKER_LOST_REASON: Final = (
    f"worker_lost: {MAX_UNFINISHED_PASSES} workers in a row crashed while they dialed."
    " Check the workers' log, then resume the campaign."
)

DIAL_FAILED_REASON: Final = (
    "cannot_dial: choosing the next contacts failed {times} times in a row ({error})."
    " Check the worker's log, fix the cause, then resume the campaign."
)
SETTLE_FAILED_REASON: Final = (
    "cannot_settle: finding the result of attempt {attempt_id} failed {times} times in a row ({error})."
    " Check the worker's log, fix the cause, then resume the campaign."
)
log = structlog.get_logger(__name__)


class CampaignEngine:
    """Dials and settles campaigns. Any number of engines share one database, and each may crash at any step.

    ``dial_timeout_s``: the wait for a carrier that reports nothing about a dial; 1.5 times as long as phones ring.
    """

    def __init__(
        self, store: CampaignStore, carrier: CampaignCarrier, time: EngineTime, *, dial_timeout_s: float
    ) -> None:
        self._store = store
        self._time = time
        self._backoff = ErrorBackoff()
        # A third by the clock in the database, the rest by the clock of the investigating process.
        self.settler = AttemptSettler(store, carrier, time, doubt_s=dial_timeout_s * 2 / 3)
        self.dialer = CampaignDialer(store, carrier, time, self.settler, check_after_s=dial_timeout_s / 3)

    async def run_dial_pass(
        self, organization_id: int, *, reservation_turn: AbstractAsyncContextManager[None] | None = None
    ) -> int:
        """Reserves the calls that may be placed now, places them, and returns how many there were.

        ``reservation_turn`` is held while calls are reserved, not while phones ring.
        """
        async with reservation_turn or nullcontext():
            reserved = await self.dialer.reserve_calls(organization_id)
        await self.dialer.place_calls(reserved)
        return len(reserved.placings)

    async def begin_job(self, organization_id: int) -> bool:
        """Records the start of a dialing job; :meth:`end_job` records its end.

        Returns False when too many earlier jobs never ended; then it pauses every running campaign of the organization.
        """
        async with self._store.transaction() as tx:
            if await tx.begin_pass(organization_id) <= MAX_UNFINISHED_PASSES:
                return True
            for campaign_id in await tx.list_running_ids(organization_id):
                await tx.set_status(campaign_id, "paused", WORKER_LOST_REASON, self._time.now())
            await tx.end_pass(organization_id)
            return False

    async def end_job(self, organization_id: int) -> None:
        async with self._store.transaction() as tx:
            await tx.end_pass(organization_id)

    async def dial_one_by_one(self, organization_id: int) -> bool:
        """Dials each running campaign on its own after a pass that raised, so that one does not block the others.

        Pauses a campaign whose pass raises ``MAX_CONSECUTIVE_ERRORS`` times in a row. Returns False while a failing
        campaign is not yet paused.
        """
        async with self._store.transaction() as tx:
            campaign_ids = await tx.list_running_ids(organization_id)
        is_settled = True
        for campaign_id in campaign_ids:
            key = ("campaign", campaign_id)
            try:
                reserved = await self.dialer.reserve_calls(organization_id, campaign_id)
            except Exception as error:  # the job loop: the other campaigns are dialed anyway
                log.exception("campaign_pass_failed", campaign_id=campaign_id)
                if self._backoff.record_failure(key, self._time.monotonic()):
                    await self._pause_campaign(
                        campaign_id, DIAL_FAILED_REASON.format(error=type(error).__name__, times=MAX_CONSECUTIVE_ERRORS)
                    )
                    self._backoff.clear(key)
                else:
                    is_settled = False
                continue
            self._backoff.clear(key)
            await self.dialer.place_calls(reserved)
        return is_settled

    async def _pause_campaign(self, campaign_id: int, reason: str) -> None:
        async with self._store.transaction() as tx:
            await tx.set_status(campaign_id, "paused", reason, self._time.now())

    async def settle_ended_runs(self, runs: Sequence[tuple[int, int]]) -> None:
        """Settles runs ``(organization, run)`` after ``CallEnded`` and ``RunFinished``. Idempotent; other runs are ignored."""
        await self.settler.settle_ended_runs(runs)

    async def wait_for_committed_dials(self, organization_id: int, campaign_id: int) -> None:
        """Waits, after a pause was committed, until no dial committed before it can begin.

        Each of them has the carrier's answer, or is too old to begin.
        """
        began = self._time.monotonic()
        while self._time.monotonic() - began < FENCE_S:
            async with self._store.transaction() as tx:
                if not await tx.count_placing_dials(organization_id, campaign_id):
                    return
            await self._time.sleep(PLACING_POLL_INTERVAL_S)

    async def tick(self) -> None:
        """Runs the job ``campaign.tick``: settles leftovers of crashed processes and wakes missed campaigns."""
        async with self._store.transaction() as tx:
            silent = await tx.find_stale_attempts(self._time.now(), STALE_ATTEMPT_BATCH + len(self._backoff))
            await tx.cancel_pending_of_failed(self._time.now())
        errors = [error for attempt in silent if (error := await self._settle_stale_attempt(attempt)) is not None]
        async with self._store.transaction() as tx:
            for organization_id in await tx.list_running_organizations():
                await tx.schedule_dialing(organization_id, None)
        if errors:
            raise errors[0]

    async def _settle_stale_attempt(self, attempt: StaleAttempt) -> Exception | None:
        """Returns the settlement's error. An attempt that raises every time backs off, so that
        others get their turn.
        """
        key = ("attempt", attempt.attempt_id)
        if self._backoff.is_backing_off(key, self._time.monotonic()):
            return None
        try:
            await self.settler.investigate_silence(attempt.organization_id, attempt.run_id)
        except Exception as error:  # the job loop: raised after every other attempt was checked
            log.exception(
                "campaign_attempt_settlement_failed", attempt_id=attempt.attempt_id, campaign_id=attempt.campaign_id
            )
            if self._backoff.record_failure(key, self._time.monotonic()):
                reason = SETTLE_FAILED_REASON.format(
                    error=type(error).__name__, times=MAX_CONSECUTIVE_ERRORS, attempt_id=attempt.attempt_id
                )
                await self._pause_campaign(attempt.campaign_id, reason)
            return error
        self._backoff.clear(key)
        return None
