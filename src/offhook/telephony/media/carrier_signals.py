"""The carrier's side of a live call beside its media: what it reports while we talk, and hanging up when we are done."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.tasks import Tasks
from offhook.runs import service as runs
from offhook.runs.records import answered_by
from offhook.runs.states import FINAL
from offhook.telephony import call_signals
from offhook.telephony.accounts.credentials import SANDBOX, Accounts
from offhook.telephony.call_signals import Signals
from offhook.telephony.media.session import MediaLeg
from offhook.telephony.ports import CarrierFailed, Carriers, CarrierSpec, MachineAnswered, Stopped
from offhook.voice.ports import CallResult

# A machine that was heard before its beep: without news of the beep the agent speaks after this.
BEEP_WITHIN_S: Final = 20.0
# Between the carrier's "over" and the end of its socket: audio that is under way is still heard.
_LINGER_S: Final = 1.0
# The far end did this, or the carrier carries the caller on.
_NOT_OURS: Final = frozenset({"caller_hung_up", "transferred"})
log = structlog.get_logger(__name__)


class CarrierLine:
    """``listen`` while a call lives, ``end`` when it is over."""

    def __init__(self, db: Database, carriers: Carriers, accounts: Accounts, heard: Signals) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts
        self._signals = heard

    @contextmanager
    def listen(self, spec: CarrierSpec, organization_id: int, run_id: int, leg: MediaLeg) -> Iterator[None]:
        """Callbacks that land anywhere reach this call: a machine that answered, a call that is over; also those that
        came before anybody listened."""
        if spec.statuses is None:
            yield
            return
        loop = asyncio.get_running_loop()
        later: list[asyncio.TimerHandle] = []
        looking = Tasks()

        def missed() -> None:
            looking.start(self._look(organization_id, run_id, leg, over), name="call-news")

        def machine(news: str) -> None:
            if not news:
                missed()
            elif news == "wait":
                later.append(loop.call_later(BEEP_WITHIN_S, leg.react, MachineAnswered()))
            else:
                leg.react(MachineAnswered())

        def over(news: str) -> None:
            if news:
                later.append(loop.call_later(_LINGER_S, leg.react, Stopped()))

        with (
            self._signals.on(call_signals.MACHINE, run_id, machine),
            self._signals.on(call_signals.CALL_OVER, run_id, over),
        ):
            missed()
            try:
                yield
            finally:
                looking.cancel()
                for timer in later:
                    timer.cancel()

    async def _look(self, organization_id: int, run_id: int, leg: MediaLeg, over: Callable[[str], None]) -> None:
        """What the database has of a call whose news nobody heard."""
        await self._signals.ready()
        try:
            async with self._db.transaction() as session:
                run = await runs.get(session, organization_id, run_id)
        except (DomainError, SQLAlchemyError, OSError) as error:
            log.warning("call_news_not_read", run_id=run_id, error=type(error).__name__)
            return
        if answered_by.is_machine(run):
            leg.react(MachineAnswered())
        if run.status in FINAL:
            over(run.status)

    async def end(self, spec: CarrierSpec, organization_id: int, run_id: int, result: CallResult | None) -> None:
        """Our side is done: closing the socket ends the call at some carriers only, so each is asked."""
        if spec.name == SANDBOX or (result is not None and _is_over(spec, result)):
            return
        await self.hang_up(spec, organization_id, run_id)

    async def hang_up(self, spec: CarrierSpec, organization_id: int, run_id: int) -> None:
        """End the run's call at its carrier; what cannot be ended is noted."""
        if spec.dialer is None:
            return
        try:
            async with self._db.transaction() as session:
                run = await runs.get(session, organization_id, run_id)
                account = await self._accounts.of_run(session, run)
            if run.call_id is not None:
                await spec.dialer.hang_up(account, run.call_id)
        except CarrierFailed as failure:
            log.warning("call_not_hung_up", run_id=run_id, code=failure.code)
        except (DomainError, SQLAlchemyError, OSError) as error:
            log.warning("call_not_hung_up", run_id=run_id, error=type(error).__name__)


def _is_over(spec: CarrierSpec, result: CallResult) -> bool:
    """Whether the call ends without being asked to."""
    ends_with_socket = not spec.outlives_media and result.end_reason != "media_lost"
    return ends_with_socket or result.end_reason in _NOT_OURS
