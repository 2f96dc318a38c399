"""One media connection, from its open socket to the end of the call that it carries."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict
from typing import Final, Protocol

import structlog

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.http.metrics import CALLER_FRAMES_LOST
from offhook.kit.media_sockets.sockets import NORMAL, MessageReceiver, PushSocket
from offhook.runs.errors import RunNotConnectable
from offhook.runs.live import lease_queries
from offhook.runs.live.calls import LiveCallRegistry
from offhook.runs.live.live_call import LiveCall
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.media.caller_frames import FrameLosses
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.leg import EventListener, MediaLeg
from offhook.telephony.ports import CarrierSpec, MediaWire, StatusUpdate
from offhook.voice.ports import CallResult
from offhook.voice.socket_leg import BAD_MESSAGE, FAULT, NOT_CONNECTABLE, CallInput

START_TIMEOUT_S: Final = 10.0
# Maximum ring time at a carrier that connects the media before the answer.
RING_TIMEOUT_S: Final = 650.0

log = structlog.get_logger(__name__)

OpenMedia = Callable[[MessageReceiver], Awaitable[PushSocket]]


class LiveConversation(Protocol):
    """The live call behind the media; ``runs.live.calls.LiveCall`` implements it."""

    @property
    def session(self) -> CallInput: ...

    async def run(self) -> CallResult: ...


class MediaSession(ABC):
    """Opens the media, waits for its start, connects a call to it, and runs that call to its end.

    ``listener`` gets the call's events (a simulated callee reads along).
    """

    def __init__(
        self, wire: MediaWire, *, listener: EventListener | None = None, start_timeout_s: float = START_TIMEOUT_S
    ) -> None:
        self.leg = MediaLeg(wire, listener)
        self._start_timeout_s = start_timeout_s

    @abstractmethod
    async def connect_call(self) -> LiveConversation:
        """Creates the call once the media has started. A DomainError refuses it."""

    async def carry_call(self, open_media: OpenMedia) -> CallResult | None:
        """Runs the call. Returns None when the media never started or the call was refused."""
        leg = self.leg
        socket = await open_media(leg)
        leg.attach_socket(socket)
        try:
            try:
                async with asyncio.timeout(self._start_timeout_s):
                    started = await leg.started
            except TimeoutError:
                leg.close(BAD_MESSAGE, "the stream did not start")
                return None
            if started is None:
                return None
            conversation = await self.connect_call()
            leg.attach_session(conversation.session)
            return await conversation.run()
        except DomainError as error:
            leg.close(NOT_CONNECTABLE, error.code)
            return None
        except Exception:
            leg.close(FAULT, "this call failed")
            raise
        finally:
            self._report_losses()
            leg.close(NORMAL, "the call is over")
            await socket.wait_closed()

    def _report_losses(self) -> None:
        losses = self.leg.caller_frames.losses
        if losses != FrameLosses():
            CALLER_FRAMES_LOST.inc(losses.lost)
            log.info("caller_frames_lost", **asdict(losses))


class RunMediaSession(MediaSession):
    """The media connection of one run, whose token was valid and is now used, and which has a slot of this process.

    A run whose media never starts has failed, except where the media connects before the answer: then the carrier
    reports why it never started. A second socket for a run that another one carries is closed and changes nothing.
    """

    def __init__(
        self,
        spec: CarrierSpec,
        organization_id: int,
        run_id: int,
        *,
        db: Database,
        live: LiveCallRegistry,
        reports: CallReports,
        control: CarrierCallControl,
        listener: EventListener | None = None,
    ) -> None:
        assert spec.media.wire is not None
        has_early_media = spec.media.has_early_media
        super().__init__(
            spec.media.wire(),
            listener=listener,
            start_timeout_s=RING_TIMEOUT_S if has_early_media else START_TIMEOUT_S,
        )
        self.run_id = run_id
        self._organization_id = organization_id
        self._spec = spec
        self._db = db
        self._live = live
        self._reports = reports
        self._control = control
        self._signals = ExitStack()
        # The slot of the admission, until the call holds one of its own.
        self._slot = ExitStack()
        self._slot.callback(live.slots.give_back, run_id)
        self._has_begun = False
        self._is_settled_elsewhere = has_early_media

    async def run(self, open_media: OpenMedia) -> CallResult | None:
        """Runs the call, ends it at its carrier, and settles a run that nothing else settles."""
        with structlog.contextvars.bound_contextvars(run_id=self.run_id, organization_id=self._organization_id):
            return await self._run_media(open_media)

    async def _run_media(self, open_media: OpenMedia) -> CallResult | None:
        result = None
        try:
            with self._signals:
                result = await self.carry_call(open_media)
        finally:
            self._slot.close()
            await self._settle_run(result)
        return result

    async def connect_call(self) -> LiveCall:
        self._has_begun = True
        try:
            call = await self._live.connect_leg(self.run_id, self.leg)
        except RunNotConnectable:
            self._is_settled_elsewhere = True
            raise
        self._slot.close()
        self._is_settled_elsewhere = False
        self._signals.enter_context(
            self._control.listen_while_live(self._spec, self._organization_id, self.run_id, self.leg)
        )
        return call

    async def _settle_run(self, result: CallResult | None) -> None:
        if not self._has_begun and not self._is_settled_elsewhere:
            async with self._db.transaction() as session:  # another socket may carry the run
                self._is_settled_elsewhere = await lease_queries.is_carried(session, self._organization_id, self.run_id)
        if result is None and self._is_settled_elsewhere:
            return
        await self._control.end_call(self._spec, self._organization_id, self.run_id, result)
        if result is None:
            update = StatusUpdate("failed", end_reason="media_lost")
            await self._reports.report_status(self._organization_id, self.run_id, update)
