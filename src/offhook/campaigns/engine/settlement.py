"""Settles attempts: each ends once, and its contact is done or called again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from offhook.campaigns.engine.ports import (
    PLACING,
    AttemptResult,
    AttemptRunState,
    CallLookup,
    CampaignCarrier,
    CampaignStore,
    CampaignTransaction,
    EngineTime,
    OpenAttempt,
)
from offhook.campaigns.rules.outcomes import CANCELED, FAILED, outcome_of_run
from offhook.campaigns.rules.retry import NOT_PLACED, retry_at

# Reasons of attempts without a ringing phone; the contact is called as if they had not happened.
NEVER_DIALED: Final = "not_dialed"
NEVER_REACHED: Final = "never_reached_carrier"
# A dial with an unknown result: the phone may have rung.
FATE_UNKNOWN: Final = "fate_unknown"
CARRIER_SILENT: Final = "carrier_silent"
# A contact whose dial our own crashes prevented this often is abandoned, with the reason.
MAX_FREE_TRIES: Final = 10
# A live call's run watches over it; this is only the interval between our checks.
RECHECK_INTERVAL: Final = timedelta(seconds=60)
# Longest wait for a carrier that neither reports a result nor hangs up.
MAX_DOUBT: Final = timedelta(minutes=15)


class AttemptSettler:
    """Settles attempts. Every method is idempotent: of two equal reports, one changes the attempt.

    ``doubt_s``: how long this process watches a silent attempt before it trusts the silence. The database holds
    wall-clock time, which may jump; a phone rings by elapsed time.
    """

    def __init__(self, store: CampaignStore, carrier: CampaignCarrier, time: EngineTime, *, doubt_s: float) -> None:
        self._store = store
        self._carrier = carrier
        self._time = time
        self._doubt_s = doubt_s
        self._first_seen: dict[int, float] = {}

    async def settle_ended_runs(self, runs: Sequence[tuple[int, int]]) -> None:
        """Settles the attempts of runs ``(organization, run)`` that are over, and dials the next into the free slots."""
        async with self._store.transaction() as tx:
            dials = await tx.lock_open_attempts(sorted(set(runs)))
            endings = await tx.load_run_states([(dial.organization_id, dial.run_id) for dial in dials])
            now, settled = self._time.now(), []
            awake: set[int] = set()
            for dial in dials:
                ending = endings.get(dial.run_id) or AttemptRunState("failed", reason="run_deleted")
                if ending.status is not None:
                    settled.append(_result_of_run(dial, ending, now))
                    awake.add(dial.organization_id)
            if settled:
                await tx.finalize_attempts(settled, now)
            of_dials = {dial.run_id for dial in dials}
            for organization_id in sorted({one for one, run_id in runs if run_id not in of_dials} - awake):
                if await tx.has_running_campaign(organization_id):
                    awake.add(organization_id)
            for organization_id in sorted(awake):
                await tx.schedule_dialing(organization_id, None)

    async def settle_undialed(self, organization_id: int, run_id: int, reason: str) -> None:
        """Settles a dial whose phone did not ring: the contact is due again right away without losing a retry."""
        now = self._time.now()
        async with self._store.transaction() as tx:
            dial = await _find_open_attempt(tx, organization_id, run_id)
            if dial is None or dial.state != PLACING:
                return
            if dial.number >= MAX_FREE_TRIES:
                result = AttemptResult(dial.id, dial.contact_id, FAILED, reason)
            elif dial.campaign_status == FAILED:
                result = AttemptResult(dial.id, dial.contact_id, CANCELED, reason)
            else:
                result = AttemptResult(dial.id, dial.contact_id, CANCELED, reason, now, reason, was_dialed=False)
            await tx.finalize_attempts([result], now)
            await tx.end_run(organization_id, run_id, "canceled", reason, now)
            await tx.schedule_dialing(organization_id, None)
        await self._carrier.publish_call_ended(organization_id, run_id, "canceled")

    async def settle_refused(self, organization_id: int, run_id: int, code: str, *, is_retryable: bool) -> None:
        """Settles a dial that the carrier refused."""
        now = self._time.now()
        async with self._store.transaction() as tx:
            dial = await _find_open_attempt(tx, organization_id, run_id)
            if dial is None:
                return
            again = retry_at(dial.retry, NOT_PLACED, dial.dials, now) if is_retryable else None
            await tx.finalize_attempts([_attempt_result(dial, FAILED, code, again)], now)
            await tx.end_run(organization_id, run_id, "failed", code, now)
            await tx.schedule_dialing(organization_id, None)
        await self._carrier.publish_call_ended(organization_id, run_id, "failed")

    async def investigate_silence(self, organization_id: int, run_id: int) -> None:
        """Asks a carrier that has been silent for longer than a phone rings; never dials before the answer is known."""
        async with self._store.transaction() as tx:
            dial = await self._find_silent_attempt(tx, organization_id, run_id)
        if dial is None:
            return
        found = await self._carrier.find_call(organization_id, run_id)
        if found.is_known and found.status is not None:
            await self._carrier.report_status(organization_id, run_id, found)
            async with self._store.transaction() as tx:
                dial = await _find_open_attempt(tx, organization_id, run_id)
                if dial is not None:
                    await tx.postpone_check(dial.id, self._time.now() + RECHECK_INTERVAL)
        elif found.is_known and dial.state == PLACING:
            await self.settle_undialed(organization_id, run_id, NEVER_REACHED)
        else:
            await self._give_up(organization_id, run_id)

    async def _find_silent_attempt(
        self, tx: CampaignTransaction, organization_id: int, run_id: int
    ) -> OpenAttempt | None:
        """Returns the attempt if the carrier must be asked; settles it if no question is needed."""
        now = self._time.now()
        dial = await _find_open_attempt(tx, organization_id, run_id)
        if dial is None:
            return None
        ending = (await tx.load_run_states([(organization_id, run_id)])).get(run_id) or AttemptRunState(
            "failed", reason="run_deleted"
        )
        if ending.status is not None:
            await self._settle_from_run(tx, dial, ending)
            return None
        if dial.check_at > now or now < dial.may_dial_until:
            return None
        if ending.is_carried:
            await tx.postpone_check(dial.id, now + RECHECK_INTERVAL)
            return None
        return dial if self._has_been_silent(dial.id) else None

    def _has_been_silent(self, attempt_id: int) -> bool:
        now = self._time.monotonic()
        first = self._first_seen.setdefault(attempt_id, now)
        if now - first < self._doubt_s:
            return False
        # Dropped long after the last check, so that the memory of a process stays small.
        self._first_seen = {one: at for one, at in self._first_seen.items() if now - at < 10 * self._doubt_s + 3600}
        return True

    async def _give_up(self, organization_id: int, run_id: int) -> None:
        """Abandons a call without media or report. A contact whose phone may have rung is not called again blindly."""
        is_quiet = await self._carrier.hang_up(organization_id, run_id)
        async with self._store.transaction() as tx:
            dial = await self._find_silent_attempt(tx, organization_id, run_id)
            if dial is None:
                return
            now = self._time.now()
            if not is_quiet and now - dial.reserved_at < MAX_DOUBT:
                await tx.postpone_check(dial.id, now + RECHECK_INTERVAL)
                return
            # A placed call without an answer within its ringing time was not answered.
            was_placed = dial.state != PLACING
            status, reason = ("no_answer", CARRIER_SILENT) if was_placed else ("failed", FATE_UNKNOWN)
            await tx.end_run(organization_id, run_id, status, reason, now)
            await self._settle_from_run(tx, dial, AttemptRunState(status, status, reason))
        await self._carrier.publish_call_ended(organization_id, run_id, status)

    async def _settle_from_run(self, tx: CampaignTransaction, dial: OpenAttempt, ending: AttemptRunState) -> None:
        now = self._time.now()
        await tx.finalize_attempts([_result_of_run(dial, ending, now)], now)
        await tx.schedule_dialing(dial.organization_id, None)


async def _find_open_attempt(tx: CampaignTransaction, organization_id: int, run_id: int) -> OpenAttempt | None:
    for dial in await tx.lock_open_attempts([(organization_id, run_id)]):
        return dial
    return None


def _result_of_run(dial: OpenAttempt, ending: AttemptRunState, now: datetime) -> AttemptResult:
    """Returns the attempt's result for the end of its run."""
    outcome = outcome_of_run(ending.status or "failed", ending.outcome, ending.reason)
    return _attempt_result(dial, outcome, ending.reason, retry_at(dial.retry, outcome, dial.dials, now))


def _attempt_result(dial: OpenAttempt, outcome: str, reason: str | None, again: datetime | None) -> AttemptResult:
    if again is None or dial.campaign_status == FAILED:
        return AttemptResult(dial.id, dial.contact_id, outcome, reason)
    because = outcome if reason in {None, outcome} else f"{outcome}: {reason}"
    return AttemptResult(dial.id, dial.contact_id, outcome, reason, again, because)


__all__ = ["FATE_UNKNOWN", "NEVER_DIALED", "NEVER_REACHED", "AttemptSettler", "CallLookup"]
