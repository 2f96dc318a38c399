"""Reads call prices from carriers that rate calls after they end."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog

from offhook import jobs
from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs import RunFinished
from offhook.runs import service as runs
from offhook.runs.finishing import carrier_charges
from offhook.runs.lists import superuser_queries
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierFailed, CarrierRegistry

JOB: Final = "telephony.read_bill"
# Delays after the end of a call and after each reply without a price. Calls are rated within minutes; an account whose
# prices are hidden never reports one.
POLL_SCHEDULE: Final = jobs.PollSchedule(JOB, (60.0, 600.0, 3600.0))
# If a process dies when a call has ended, its request for the price is lost. By the first of these times, all attempts of
# other processes are over. The second is one round later, so that an account whose prices are hidden is asked only once
# more for each call, not every hour.
MISSED_JOB: Final = "telephony.find_unbilled"
MISSED_EVERY_S: Final = 3600.0
MISSED_AFTER: Final = timedelta(hours=2)
MISSED_UNTIL: Final = MISSED_AFTER + timedelta(seconds=MISSED_EVERY_S, minutes=5)
MAX_MISSED: Final = 10_000
log = structlog.get_logger(__name__)


class ChargeCollector:
    def __init__(self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts

    async def on_run_finished(self, event: RunFinished) -> None:
        spec = self._carriers.find(event.mode)
        if spec is not None and spec.calls.bills is not None:
            payload = {"organization_id": event.organization_id, "run_id": event.run_id}
            async with self._db.transaction() as session:
                await POLL_SCHEDULE.start(session, event.run_id, payload)

    async def find_unbilled(self, _: JsonObject) -> None:
        """Runs the job that asks for the prices of calls for which no carrier was asked."""
        modes = [spec.name for spec in self._carriers.specs if spec.calls.bills is not None]
        async with self._db.transaction() as session:
            found = await superuser_queries.list_runs_without_bill(
                session, modes, ended_after=MISSED_UNTIL, ended_before=MISSED_AFTER, limit=MAX_MISSED
            )
            # Not all at once: an account whose prices are hidden has thousands, and its carrier refuses such a burst.
            pause_s = MISSED_EVERY_S / max(1, len(found))
            for number, (organization_id, run_id) in enumerate(found):
                payload = {"organization_id": organization_id, "run_id": run_id}
                await POLL_SCHEDULE.start(session, run_id, payload, later_s=number * pause_s)

    async def read_bill(self, payload: Mapping[str, int]) -> None:
        """Runs the job that asks once. Storing the same price twice changes nothing."""
        organization_id, run_id = payload["organization_id"], payload["run_id"]
        try:
            async with self._db.transaction() as session:
                run = await runs.get_run(session, organization_id, run_id)
                account = await self._accounts.account_of_run(session, run)
            spec = self._carriers.find(run.mode)
            if spec is None or spec.calls.bills is None or run.call_id is None:
                return
            bill = await spec.calls.bills.read_bill(account, run.call_id)
        except CarrierFailed as failure:
            log.warning("carrier_bill_unavailable", run_id=run_id, code=failure.code)
            if failure.retryable:
                async with self._db.transaction() as session:
                    await POLL_SCHEDULE.reschedule(session, run_id, {**payload})
            return
        except DomainError as error:  # the run, its account or the account's key is gone
            log.info("carrier_bill_unavailable", run_id=run_id, code=error.code)
            return
        async with self._db.transaction() as session:
            await carrier_charges.record_carrier_bill(session, organization_id, run_id, bill)
            if bill.cost is None:
                await POLL_SCHEDULE.reschedule(session, run_id, {**payload})
