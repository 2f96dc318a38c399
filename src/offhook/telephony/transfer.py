"""Handing callers over to other telephones, through whichever carrier carries the call."""

from dataclasses import dataclass
from typing import Final

import structlog

from offhook.kit.db import Database
from offhook.runs import service as runs
from offhook.runs.call_tools import Handover, TransferRefused
from offhook.telephony.ports import CarrierAccount, CarrierFailed, Carriers, Transferrer
from offhook.telephony.service import account_for
from offhook.voice.ports import HandoverFailed

_TOLD: Final = {"busy", "no_answer"}
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Answered:
    """Implements ``runs.call_tools.Handover``."""

    transferrer: Transferrer
    account: CarrierAccount
    call_id: str
    destination_id: str

    async def connect(self) -> None:
        try:
            await self.transferrer.connect(self.account, self.call_id, self.destination_id)
        except CarrierFailed as failure:
            raise HandoverFailed(failure.message) from failure

    async def release(self) -> None:
        try:
            await self.transferrer.release(self.account, self.destination_id)
        except CarrierFailed as failure:
            log.warning("transfer_not_released", code=failure.code)


class Transfers:
    """Implements ``runs.call_tools.TransferDesk``."""

    def __init__(self, db: Database, carriers: Carriers) -> None:
        self._db = db
        self._carriers = carriers

    async def ring(self, organization_id: int, run_id: int, number: str, timeout_s: float) -> Handover:
        async with self._db.transaction() as session:
            run = await runs.get(session, organization_id, run_id)
            spec, call_id = self._carriers.find(run.mode), run.call_id
            if spec is None or spec.transferrer is None or call_id is None:
                raise TransferRefused("unsupported")
            configured = run.initial_context.get("telephony_configuration_id")
            account = await account_for(
                session, organization_id, configuration_id=configured or None, provider=run.mode
            )
        try:
            answered = await spec.transferrer.ring(account, call_id, number, timeout_s)
        except CarrierFailed as failure:
            log.info("transfer_failed", run_id=run_id, code=failure.code)
            raise TransferRefused(failure.code if failure.code in _TOLD else "call_failed") from failure
        return _Answered(spec.transferrer, account, call_id, answered)
