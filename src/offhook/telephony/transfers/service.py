"""Transfers callers to other telephones, through whichever carrier carries the call."""

from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.live.call_tools import CallHandover, TransferRefused
from offhook.telephony import destinations
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.ports import BlindTransfer, CallTransferrer, CarrierAccount, CarrierFailed, CarrierRegistry
from offhook.telephony.transfers.warm_transfers import WarmTransfers
from offhook.voice.ports import HandoverFailed

_REPORTED_REASONS: Final = {"busy", "no_answer"}
# The agent says goodbye first; the carrier then fetches the document on request.
FORWARD_LINK_TTL_S: Final = 300
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _AnsweredHandover:
    """Implements ``runs.live.call_tools.CallHandover``."""

    transferrer: CallTransferrer
    account: CarrierAccount
    call_id: str
    destination_id: str

    async def connect_caller(self) -> None:
        try:
            await self.transferrer.connect_caller(self.account, self.call_id, self.destination_id)
        except CarrierFailed as failure:
            raise HandoverFailed(failure.message) from failure

    async def release_destination(self) -> None:
        try:
            await self.transferrer.release_destination(self.account, self.destination_id)
        except CarrierFailed as failure:
            log.warning("transfer_release_failed", code=failure.code)


@dataclass(frozen=True, slots=True)
class _BlindHandover:
    """Implements ``runs.live.call_tools.CallHandover`` for a destination that has not been rung yet."""

    transfer: BlindTransfer
    account: CarrierAccount
    call_id: str
    to_number: str
    from_number: str
    timeout_s: float
    forward_url: str

    async def connect_caller(self) -> None:
        try:
            await self.transfer.redirect_caller(
                self.account, self.call_id, self.to_number, self.from_number, self.timeout_s, self.forward_url
            )
        except CarrierFailed as failure:
            raise HandoverFailed(failure.message) from failure

    async def release_destination(self) -> None:
        """Does nothing: no phone rings yet."""


class CallTransfers:
    """Implements ``runs.live.call_tools.CallTransferService``."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        accounts: CarrierAccounts,
        warm: WarmTransfers,
        address: PublicAddress,
        clock: Clock,
    ) -> None:
        self._address = address
        self._clock = clock
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._warm = warm

    async def ring_destination(
        self, organization_id: int, run_id: int, number: str, timeout_s: float, *, is_blind: bool = False
    ) -> CallHandover:
        """Rings the destination, where the organization's call policy and do-not-call list allow it. Blind where requested
        and supported, or where the carrier supports nothing else."""
        async with self._db.transaction() as session:
            run = await runs.get_run(session, organization_id, run_id)
            spec, call_id = self._carriers.find(run.mode), run.call_id
            if spec is None or call_id is None:
                raise TransferRefused("unsupported")
            account = await self._accounts.account_of_run(session, run)
            await _require_allowed(session, run, spec.name, number)
        if spec.calls.blind_transfer is not None and (is_blind or not spec.calls.has_warm_transfer):
            ours = run.called_number if run.direction == "inbound" else run.caller_number
            from_number = ours or account.any_number or ""
            expires_at = int(self._clock.now().timestamp()) + FORWARD_LINK_TTL_S
            url = (
                self._address.forward_url(spec.name, number, from_number, timeout_s, expires_at)
                if self._address.base
                else ""
            )
            return _BlindHandover(spec.calls.blind_transfer, account, call_id, number, from_number, timeout_s, url)
        if spec.calls.transferrer is None:
            if spec.calls.transfer_legs is None:
                raise TransferRefused("unsupported")
            return await self._warm.ring_destination(spec, account, run, number, timeout_s)
        try:
            answered = await spec.calls.transferrer.ring_destination(account, call_id, number, timeout_s)
        except CarrierFailed as failure:
            log.info("transfer_failed", call_id=call_id, code=failure.code)
            raise TransferRefused(failure.code if failure.code in _REPORTED_REASONS else "call_failed") from failure
        return _AnsweredHandover(spec.calls.transferrer, account, call_id, answered)


async def _require_allowed(session: AsyncSession, run: Run, provider: str, number: str) -> None:
    if await do_not_call_list.listed_numbers(session, run.organization_id, [number]):
        raise TransferRefused("do_not_call")
    if await destinations.refused_destinations(session, run.organization_id, provider, [number]):
        raise TransferRefused("destination_blocked")
