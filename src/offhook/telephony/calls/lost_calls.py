"""Finds calls whose dial request lost its response, and adopts them. They are never dialed again."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.records import carrier_call_queries
from offhook.runs.states import INITIATED
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.ports import CarrierFailed, CarrierRegistry, CarrierSpec, LostCallQuery, StatusUpdate
from offhook.telephony.transfers import repository

JOB: Final = "telephony.find_lost_call"
# A dial is answered within 20 s or never; a call that a carrier accepted is in its lists within seconds.
POLL_SCHEDULE: Final = jobs.PollSchedule(JOB, (30.0, 60.0, 300.0))
# Earlier than this, a call that is not listed may still appear.
CERTAIN_AFTER: Final = timedelta(seconds=60)
log = structlog.get_logger(__name__)


class LostCallFinder:
    def __init__(
        self, db: Database, carriers: CarrierRegistry, reports: CallReports, accounts: CarrierAccounts, clock: Clock
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._reports = reports
        self._accounts = accounts
        self._clock = clock

    async def watch_dial(self, session: AsyncSession, spec: CarrierSpec, run: Run) -> None:
        """Schedules the search in the transaction before a dial, so that it also covers a process that dies while
        dialing."""
        if spec.calls.finder is not None and not spec.is_in_process:
            await POLL_SCHEDULE.start(session, run.id, {"organization_id": run.organization_id, "run_id": run.id})

    async def find_call(self, organization_id: int, run_id: int) -> StatusUpdate | None:
        """Returns the carrier's record of a run's call and stores its id on the run; None when the carrier never got
        the call. Raises CarrierFailed when the carrier cannot tell, and RunNotFound (404)."""
        async with self._db.transaction() as session:
            run = await runs.get_run(session, organization_id, run_id)
            account = await self._accounts.account_of_run(session, run)
        spec = self._carriers.find(run.mode)
        if spec is None or spec.calls.finder is None:
            raise CarrierFailed("carrier_cannot_say", f"{run.mode} cannot list its calls.", retryable=False)
        dialed_at = run.started_at or run.created_at
        sought = LostCallQuery(run_id, run.called_number or "", run.caller_number or "", dialed_at)
        found = await spec.calls.finder.find_calls(account, sought)
        async with self._db.transaction() as session:
            update = await self._pick_unclaimed(session, run, found)
            if update is not None and update.call_id is not None and run.call_id is None:
                await runs.set_call_ids(session, [(organization_id, run_id, update.call_id)])
        is_early = not spec.is_in_process and self._clock.now() - dialed_at < CERTAIN_AFTER
        if update is None and is_early:
            raise CarrierFailed("carrier_cannot_say", "It is too early to say that there is no call.", retryable=True)
        return update

    async def _pick_unclaimed(self, session: AsyncSession, run: Run, found: list[StatusUpdate]) -> StatusUpdate | None:
        """Returns the only call between the two numbers that no other run or transfer has."""
        ids = [update.call_id for update in found if update.call_id is not None]
        others = await carrier_call_queries.call_ids_of_other_runs(session, run.mode, ids, except_run_id=run.id)
        others |= await repository.find_destination_legs(session, run.mode, ids)
        unclaimed = [update for update in found if update.call_id not in others]
        if len(unclaimed) > 1:
            raise CarrierFailed("carrier_cannot_say", "Several calls match this run.", retryable=True)
        return unclaimed[0] if unclaimed else None

    async def run_search(self, payload: Mapping[str, int]) -> None:
        """Runs the job that searches for the call of a run whose fate is still unknown."""
        organization_id, run_id = payload["organization_id"], payload["run_id"]
        try:
            async with self._db.transaction() as session:
                run = await runs.get_run(session, organization_id, run_id)
            if run.status != INITIATED or run.call_id is not None or run.worker_id is not None:
                return
            found = await self.find_call(organization_id, run_id)
        except CarrierFailed as failure:
            log.info("lost_call_not_found_yet", run_id=run_id, code=failure.code)
            async with self._db.transaction() as session:
                await POLL_SCHEDULE.reschedule(session, run_id, {**payload})
            return
        except DomainError as error:  # the run, its account or the account's key is gone
            log.info("lost_call_not_found", run_id=run_id, code=error.code)
            return
        update = found or StatusUpdate("failed", end_reason="never_reached_carrier")
        log.warning("lost_call_found" if found else "call_was_never_placed", run_id=run_id, status=update.status)
        await self._reports.report_status(organization_id, run_id, update)
