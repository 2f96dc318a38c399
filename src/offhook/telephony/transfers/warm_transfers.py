"""Warm transfers through carriers that report the answer in a callback, possibly to another process than the waiting
one."""

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.runs import Run
from offhook.runs.live.call_tools import TransferRefused
from offhook.telephony import call_signals
from offhook.telephony.accounts.public_urls import PublicAddress, PublicAddressMissing
from offhook.telephony.call_signals import CallSignals
from offhook.telephony.carrier_kit.callback_kinds import TRANSFER_RESULT
from offhook.telephony.ports import (
    CarrierAccount,
    CarrierFailed,
    CarrierSpec,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)
from offhook.telephony.tables import PendingTransfer
from offhook.telephony.transfers import repository
from offhook.voice.ports import HandoverFailed

RINGING: Final = "ringing"
SEATING: Final = "seating"
ANSWERED: Final = "answered"
JOINED: Final = "joined"
FAILED: Final = "failed"
RELEASED: Final = "released"
ENDED: Final = "ended"
# Events of a transfer as the waiting process receives them.
DESTINATION_ANSWERED: Final = "DESTINATION_ANSWERED"
TRANSFER_FAILED: Final = "TRANSFER_FAILED"
# How long to wait, after the ring time, for the carrier's own "no answer", and how often to poll the row in any case.
_GRACE_S: Final = 3.0
_POLL_INTERVAL_S: Final = 2.0
_REPORTED_REASONS: Final = frozenset({"busy", "no_answer"})
log = structlog.get_logger(__name__)


class WarmTransfers:
    """The waiting side of a transfer: rings, waits for the answer, joins or releases."""

    def __init__(self, db: Database, address: PublicAddress, heard: CallSignals) -> None:
        self._db = db
        self._address = address
        self._signals = heard

    async def ring_destination(
        self, spec: CarrierSpec, account: CarrierAccount, run: Run, to_number: str, timeout_s: float
    ) -> "AnsweredTransfer":
        """Rings the destination and returns when it has answered. Raises TransferRefused; canceling it ends the
        ringing."""
        assert spec.calls.transfer_legs is not None
        assert run.call_id is not None
        transfer_id = secrets.token_hex(16)
        order = self._build_order(spec, account, run, transfer_id, to_number, timeout_s)
        async with self._db.transaction() as session:
            session.add(
                PendingTransfer(
                    transfer_id=transfer_id,
                    organization_id=run.organization_id,
                    run_id=run.id,
                    telephony_configuration_id=account.id,
                    provider=spec.name,
                    call_id=run.call_id,
                    to_number=to_number,
                )
            )
        signaled = asyncio.Event()
        with self._signals.subscribe(call_signals.TRANSFER, transfer_id, lambda _: signaled.set()):
            await self._signals.wait_ready()
            starting = asyncio.ensure_future(self._start_leg(spec.calls.transfer_legs, account, order))
            try:
                await asyncio.shield(starting)
                leg = await self._wait_for_answer(transfer_id, timeout_s, signaled)
            except BaseException:
                # Whatever ended the wait, the caller is not coming; an answer still in flight finds the changed state.
                await asyncio.shield(self._abandon_transfer(spec, account, transfer_id, starting))
                raise
        return AnsweredTransfer(self, spec, account, leg)

    def _build_order(
        self,
        spec: CarrierSpec,
        account: CarrierAccount,
        run: Run,
        transfer_id: str,
        to_number: str,
        timeout_s: float,
    ) -> TransferOrder:
        own = f"/{spec.name}" if TRANSFER_RESULT in spec.webhooks.callbacks else ""
        ours = run.called_number if run.direction == "inbound" else run.caller_number
        try:
            return TransferOrder(
                transfer_id=transfer_id,
                call_id=run.call_id or "",
                to_number=to_number,
                from_number=ours or account.any_number or "",
                timeout_s=timeout_s,
                result_url=self._address.url_for(f"{own}/{TRANSFER_RESULT}/{transfer_id}"),
                answer_url=self._address.url_for(f"/transfer-answer/{transfer_id}"),
            )
        except PublicAddressMissing:
            raise TransferRefused("unsupported") from None

    async def _start_leg(self, legs: TransferLegs, account: CarrierAccount, order: TransferOrder) -> None:
        try:
            destination_id = await legs.start_leg(account, order)
        except CarrierFailed as failure:
            log.info("transfer_failed", transfer_id=order.transfer_id, code=failure.code)
            raise TransferRefused(failure.code if failure.code in _REPORTED_REASONS else "call_failed") from failure
        async with self._db.transaction() as session:
            await repository.set_destination(session, order.transfer_id, destination_id)

    async def _wait_for_answer(self, transfer_id: str, timeout_s: float, signaled: asyncio.Event) -> TransferLeg:
        """Waits for the event, and polls the row in case the event was lost."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s + _GRACE_S
        while (left := deadline - loop.time()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _POLL_INTERVAL_S)):
                    await signaled.wait()
            signaled.clear()
            async with self._db.transaction() as session:
                row = await repository.find_transfer(session, transfer_id)
            if row is None or row.state in {FAILED, RELEASED, ENDED}:
                reason = row.reason if row is not None else None
                raise TransferRefused(reason if reason in _REPORTED_REASONS else "call_failed")
            if row.state == ANSWERED:
                return build_leg(row)
        raise TransferRefused("no_answer")

    async def _abandon_transfer(
        self, spec: CarrierSpec, account: CarrierAccount, transfer_id: str, starting: "asyncio.Future[None]"
    ) -> None:
        """Abandons the transfer. A leg can be ended only once the carrier has reported its id."""
        await asyncio.wait({starting})
        if not starting.cancelled():
            starting.exception()
        await self.release_destination(spec, account, transfer_id)

    async def release_destination(self, spec: CarrierSpec, account: CarrierAccount, transfer_id: str) -> None:
        """Ends the destination's leg, ringing or answered, because the caller is not coming."""
        async with self._db.transaction() as session:
            await repository.change_state(session, transfer_id, {RINGING, SEATING, ANSWERED}, RELEASED)
            row = await repository.find_transfer(session, transfer_id)
        if row is not None and row.destination_id is not None and row.state != ENDED:
            await hang_up(spec, account, row.destination_id)

    async def has_joined(self, session: AsyncSession, run: Run) -> bool:
        """Returns whether the run's caller was connected to a destination, which may still be there."""
        return await repository.has_transfer(session, run, JOINED)

    async def join_caller(self, spec: CarrierSpec, account: CarrierAccount, leg: TransferLeg) -> None:
        """Connects the caller to the destination. Raises HandoverFailed when it is gone or the carrier refuses."""
        assert spec.calls.transfer_legs is not None
        async with self._db.transaction() as session:
            is_there = await repository.change_state(session, leg.transfer_id, {ANSWERED}, JOINED)
        if not is_there:
            raise HandoverFailed("The destination has hung up.")
        try:
            answer_url = self._address.url_for(f"/transfer-answer/{leg.transfer_id}")
            await spec.calls.transfer_legs.join_caller(account, replace(leg, answer_url=answer_url))
        except CarrierFailed as failure:
            async with self._db.transaction() as session:
                await repository.change_state(session, leg.transfer_id, {JOINED}, FAILED, reason=failure.code[:64])
            await hang_up(spec, account, leg.destination_id)
            raise HandoverFailed(failure.message) from failure


@dataclass(frozen=True, slots=True)
class AnsweredTransfer:
    """Implements ``runs.live.call_tools.CallHandover``."""

    transfers: WarmTransfers
    spec: CarrierSpec
    account: CarrierAccount
    leg: TransferLeg

    async def connect_caller(self) -> None:
        await self.transfers.join_caller(self.spec, self.account, self.leg)

    async def release_destination(self) -> None:
        await self.transfers.release_destination(self.spec, self.account, self.leg.transfer_id)


def build_leg(row: PendingTransfer) -> TransferLeg:
    return TransferLeg(row.transfer_id, row.call_id, row.destination_id or "", row.conference_id)


async def hang_up(spec: CarrierSpec, account: CarrierAccount, call_id: str) -> None:
    """Ends a leg. A carrier's failure is logged, and the leg's own time limit ends it."""
    if spec.calls.dialer is None or not call_id:
        return
    try:
        await spec.calls.dialer.hang_up(account, call_id)
    except CarrierFailed as failure:
        log.warning("hangup_failed", provider=spec.name, code=failure.code)
