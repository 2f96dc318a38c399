"""What calls cost, asked of carriers that rate them after their end."""

from typing import Any, Final

import structlog

from offhook import jobs
from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.runs import RunFinished
from offhook.runs import service as runs
from offhook.runs.finishing import carrier_charges
from offhook.telephony.accounts.credentials import Accounts
from offhook.telephony.ports import CarrierFailed, Carriers

JOB: Final = "telephony.read_bill"
# After the end of a call, and after each time that the carrier did not know: it is rated within minutes, and an account
# whose prices are not shown never is.
ASKING: Final = jobs.Asking(JOB, (60.0, 600.0, 3600.0))
log = structlog.get_logger(__name__)


class Bills:
    def __init__(self, db: Database, carriers: Carriers, accounts: Accounts) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts

    async def on_finished(self, news: RunFinished) -> None:
        spec = self._carriers.find(news.mode)
        if spec is not None and spec.bills is not None:
            payload = {"organization_id": news.organization_id, "run_id": news.run_id}
            async with self._db.transaction() as session:
                await ASKING.begin(session, news.run_id, payload)

    async def read(self, payload: dict[str, Any]) -> None:
        """The job: asks once; keeping the same twice changes nothing."""
        organization_id, run_id = payload["organization_id"], payload["run_id"]
        try:
            async with self._db.transaction() as session:
                run = await runs.get(session, organization_id, run_id)
                account = await self._accounts.of_run(session, run)
            spec = self._carriers.find(run.mode)
            if spec is None or spec.bills is None or run.call_id is None:
                return
            bill = await spec.bills.bill(account, run.call_id)
        except CarrierFailed as failure:
            log.warning("bill_not_read", run_id=run_id, code=failure.code)
            if failure.retryable:
                async with self._db.transaction() as session:
                    await ASKING.again(session, run_id, payload)
            return
        except DomainError as error:  # the run, its account or the account's key is gone
            log.info("bill_not_read", run_id=run_id, code=error.code)
            return
        async with self._db.transaction() as session:
            await carrier_charges.note(session, organization_id, run_id, bill)
            if bill.cost is None:
                await ASKING.again(session, run_id, payload)
