"""The carrier's side of a live call beside its media: reports that arrive during the call, and the hang-up at its
end."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.tasks import TaskTracker
from offhook.runs import service as runs
from offhook.runs.records import answered_by
from offhook.runs.states import FINAL_STATES
from offhook.telephony import call_signals
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.call_signals import CallSignals
from offhook.telephony.media.leg import MediaLeg
from offhook.telephony.ports import CarrierFailed, CarrierRegistry, CarrierSpec, MachineAnswered, MediaStopped
from offhook.voice.handover import MOVED
from offhook.voice.ports import CallResult

# Wait after a machine was detected before its beep: without a report of the beep, the agent speaks after this.
BEEP_TIMEOUT_S: Final = 20.0
# Delay between the carrier's end report and the end of its socket, so that audio in flight is still heard.
_LINGER_S: Final = 1.0
# End reasons that the far end caused, or with which the carrier keeps carrying the caller.
_NOT_OURS: Final = frozenset({"caller_hung_up", "transferred", MOVED})
log = structlog.get_logger(__name__)


class CarrierCallControl:
    """Controls a call at its carrier: ``listen_while_live`` during the call, ``end_call`` after it."""

    def __init__(self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts, heard: CallSignals) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._signals = heard

    @contextmanager
    def listen_while_live(self, spec: CarrierSpec, organization_id: int, run_id: int, leg: MediaLeg) -> Iterator[None]:
        """Delivers callbacks that reach any process to this call (a machine answered, the call ended), including
        those that arrived before it listened."""
        if spec.webhooks.statuses is None:
            yield
            return
        loop = asyncio.get_running_loop()
        later: list[asyncio.TimerHandle] = []
        looking = TaskTracker()

        def check_missed() -> None:
            looking.start(self._apply_missed_signals(organization_id, run_id, leg, on_call_over), name="missed-signals")

        def on_machine(message: str) -> None:
            if not message:
                check_missed()
            elif message == "wait":
                later.append(loop.call_later(BEEP_TIMEOUT_S, leg.on_wire_event, MachineAnswered()))
            else:
                leg.on_wire_event(MachineAnswered())

        def on_call_over(message: str) -> None:
            if message:
                later.append(loop.call_later(_LINGER_S, leg.on_wire_event, MediaStopped()))

        with (
            self._signals.subscribe(call_signals.MACHINE, run_id, on_machine),
            self._signals.subscribe(call_signals.CALL_OVER, run_id, on_call_over),
        ):
            check_missed()
            try:
                yield
            finally:
                looking.cancel()
                for timer in later:
                    timer.cancel()

    async def _apply_missed_signals(
        self, organization_id: int, run_id: int, leg: MediaLeg, over: Callable[[str], None]
    ) -> None:
        """Applies reports that the database holds from before this process listened."""
        await self._signals.wait_ready()
        try:
            async with self._db.transaction() as session:
                run = await runs.get_run(session, organization_id, run_id)
        except (DomainError, SQLAlchemyError, OSError) as error:
            log.warning("call_status_unavailable", run_id=run_id, error=type(error).__name__)
            return
        if answered_by.is_machine(run):
            leg.on_wire_event(MachineAnswered())
        if run.status in FINAL_STATES:
            over(run.status)

    async def end_call(self, spec: CarrierSpec, organization_id: int, run_id: int, result: CallResult | None) -> None:
        """Ends the call when our side is done. Closing the socket ends the call at some carriers only, so each is
        asked."""
        if spec.is_in_process:
            return
        if result is not None:
            ends_with_socket = not spec.media.outlives_media and result.end_reason != "media_lost"
            if ends_with_socket or result.end_reason in _NOT_OURS:
                return
        await self.hang_up(spec, organization_id, run_id)

    async def hang_up(self, spec: CarrierSpec, organization_id: int, run_id: int) -> None:
        """Hangs up the run's call at its carrier; a failure is logged."""
        if spec.calls.dialer is None:
            return
        try:
            async with self._db.transaction() as session:
                run = await runs.get_run(session, organization_id, run_id)
                account = await self._accounts.account_of_run(session, run)
            if run.call_id is not None:
                await spec.calls.dialer.hang_up(account, run.call_id)
        except CarrierFailed as failure:
            log.warning("hangup_failed", run_id=run_id, code=failure.code)
        except (DomainError, SQLAlchemyError, OSError) as error:
            log.warning("hangup_failed", run_id=run_id, error=type(error).__name__)
