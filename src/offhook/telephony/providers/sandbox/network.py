"""A telephone network inside the process: dials, rings, answers, talks, hangs up and reports, as a carrier does."""

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import structlog
from pydantic import ValidationError

from offhook.errors import DomainError
from offhook.kit.media_sockets.sockets import GOING_AWAY
from offhook.kit.processes.child_process import is_running
from offhook.runs.states import FINAL_STATES
from offhook.telephony.media.in_process_socket import PipeEnd, create_pipe
from offhook.telephony.media.leg import EventListener
from offhook.telephony.media.session import OpenMedia
from offhook.telephony.media.simulated_phone import PhoneReceiver, SimulatedPhone
from offhook.telephony.ports import CarrierAccount, CarrierFailed, DialRequest, LostCallQuery, StatusUpdate
from offhook.telephony.providers.sandbox.call_script import CallScript
from offhook.telephony.providers.sandbox.config import Behavior, SandboxConfig
from offhook.telephony.providers.sandbox.simulated_callee import CallerVoice, LineIsDead, SimulatedCallee
from offhook.telephony.providers.sandbox.wire import PhoneWire

log = structlog.get_logger(__name__)

# Delay from the dial to the far phone's first ring: networks take a moment to find it.
SETUP_S: Final = 0.2
STOP_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The network's record of a call, written before the phone rings. ``process`` is the one that plays the phone."""

    call_id: str
    run_id: int
    organization_id: int
    to_number: str
    process: str
    status: str = "initiated"
    is_over: bool = False


class CallLog(Protocol):
    """The network's own record of calls. Raises OSError when it cannot be written or read."""

    async def record_call(self, record: CallRecord) -> None: ...

    async def record_end(self, call_id: str, status: str) -> None: ...

    async def find_by_run(self, organization_id: int, run_id: int) -> CallRecord | None: ...


class PlatformExchange(Protocol):
    """The network's interface to the platform, the same that a carrier reaches by webhook and socket."""

    async def start_ringing(self, run_id: int) -> None:
        """Reports that a phone of this process is about to ring for the run, until :meth:`stop_ringing`."""
        ...

    def stop_ringing(self, run_id: int) -> None: ...

    def report_status(self, organization_id: int, run_id: int, update: StatusUpdate) -> Awaitable[object]: ...

    def carry_media(
        self, organization_id: int, request: DialRequest, open_media: OpenMedia, listener: EventListener
    ) -> Awaitable[object]:
        """Connects the media of an answered call and returns when it is over. Raises DomainError when it is refused."""
        ...

    def load_script(self, organization_id: int, run_id: int) -> Awaitable[CallScript]: ...


@dataclass(slots=True, eq=False)
class _SandboxCall:
    call_id: str
    organization_id: int
    request: DialRequest
    config: SandboxConfig
    near: PipeEnd | None = None
    hang_up: Callable[[], None] | None = None
    task: asyncio.Task[None] | None = field(default=None)
    is_canceled: bool = False
    status: str = "initiated"

    def cancel(self) -> None:
        """Cancels the call once: a second cancellation would interrupt the report of the first and leave a run that
        never ends."""
        if self.task is not None and not self.is_canceled:
            self.is_canceled = True
            self.task.cancel()


class SandboxNetwork:
    """Implements ``ports.CallDialer``, ``ports.CallFinder`` and ``ports.LocalPhones``. Runs on the current loop and
    uses no timer but ``asyncio.sleep``."""

    def __init__(self, exchange: PlatformExchange, voice: CallerVoice, calls: CallLog) -> None:
        self._exchange = exchange
        self._voice = voice
        self._log = calls
        self._process = f"{socket.gethostname()[:32]}/{os.getpid()}/{secrets.token_hex(4)}"
        self._calls: dict[str, _SandboxCall] = {}

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        try:
            config = SandboxConfig.model_validate(dict(account.config))
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in first["loc"])
            message = f"The sandbox configuration is wrong at {path or 'mix'}: {first['msg']}."
            raise CarrierFailed("carrier_misconfigured", message, retryable=False) from None
        if not config.instant:
            await self._exchange.start_ringing(request.run_id)
        call = _SandboxCall(f"SB{secrets.token_hex(16)}", account.organization_id, request, config)
        record = CallRecord(call.call_id, request.run_id, account.organization_id, request.to_number, self._process)
        try:
            await self._log.record_call(record)
        except OSError as error:
            raise CarrierFailed(
                "carrier_unreachable",
                f"The sandbox network is unavailable: {error}.",
                retryable=True,
                is_fate_unknown=True,
            ) from None
        self._calls[call.call_id] = call
        call.task = asyncio.create_task(self._run_guarded(call), name=f"sandbox-call-{request.run_id}")
        return call.call_id

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Returns the matching calls; one whose phone lived in a process that is gone has been cut off."""
        try:
            record = await self._log.find_by_run(account.organization_id, sought.run_id)
            if record is None:
                return []
            if not record.is_over and not self._is_phone_alive(record):
                await self._log.record_end(record.call_id, "failed")
                return [StatusUpdate("failed", call_id=record.call_id, end_reason="line_lost")]
        except OSError as error:
            raise CarrierFailed(
                "carrier_unreachable", f"The sandbox network is unavailable: {error}.", retryable=True
            ) from None
        here = self._calls.get(record.call_id)
        return [StatusUpdate(here.status if here else record.status, call_id=record.call_id)]

    def _is_phone_alive(self, record: CallRecord) -> bool:
        """Returns True if the phone still exists: in this process, or in another live one."""
        if record.process == self._process:
            return record.call_id in self._calls
        host, pid, _ = record.process.split("/")
        return host != self._process.split("/")[0] or is_running(int(pid))

    def rings(self, account: CarrierAccount) -> bool:
        return not account.config.get("instant")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is None or call.organization_id != account.organization_id or call.task is None:
            return
        if call.hang_up is not None:
            call.hang_up()
        else:
            call.cancel()

    async def close(self) -> None:
        """Ends every call in order: ringing phones stop, and connected calls end with a server shutdown."""
        tasks = []
        for call in list(self._calls.values()):
            if call.task is not None:
                tasks.append(call.task)
                if call.near is not None:
                    call.near.close(GOING_AWAY, "the server stops")
                else:
                    call.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_TIMEOUT_S)

    async def _run_guarded(self, call: _SandboxCall) -> None:
        try:
            await self._run_call(call)
        except asyncio.CancelledError:
            await self._report_status(call, "canceled", end_reason="canceled")
            raise
        except DomainError as error:
            log.warning("sandbox_media_refused", run_id=call.request.run_id, code=error.code)
            await self._report_status(call, "failed", end_reason="media_lost")
        except Exception:  # the vendor boundary: a fault of the simulated carrier counts as a carrier failure
            log.exception("sandbox_call_failed", run_id=call.request.run_id)
            await self._report_status(call, "failed", end_reason="error")
        finally:
            self._calls.pop(call.call_id, None)
            self._exchange.stop_ringing(call.request.run_id)

    async def _run_call(self, call: _SandboxCall) -> None:
        behavior = call.config.behavior_of(call.request.to_number)
        if call.config.instant:
            await self._run_instantly(call, behavior)
            return
        await asyncio.sleep(SETUP_S)
        await self._report_status(call, "ringing")
        if behavior == "busy":
            await asyncio.sleep(call.config.ring_s / 2)
            await self._report_status(call, "busy")
        elif behavior == "no_answer":
            await asyncio.sleep(min(call.config.no_answer_after_s, call.request.ring_timeout_s))
            await self._report_status(call, "no_answer")
        else:
            await asyncio.sleep(call.config.ring_s)
            await self._report_status(call, "in_progress")
            await self._hold_conversation(call, behavior)
            await self._report_status(call, "completed")

    async def _run_instantly(self, call: _SandboxCall, behavior: Behavior) -> None:
        if behavior in {"busy", "no_answer"}:
            await self._report_status(call, behavior)
            return
        if call.config.instant_call_s:
            await self._report_status(call, "in_progress")
            await asyncio.sleep(call.config.instant_call_s)
        await self._report_status(call, "completed", outcome="voicemail" if behavior == "voicemail" else "answered")

    async def _hold_conversation(self, call: _SandboxCall, behavior: Behavior) -> None:
        brief = await self._exchange.load_script(call.organization_id, call.request.run_id)
        call.near, far = create_pipe()
        wire = PhoneWire(far)
        line = SimulatedPhone(wire)
        person = SimulatedCallee(line=line, wire=wire, voice=self._voice, brief=brief)

        def end_call() -> None:
            if not line.is_over:
                wire.send_stop()
                line.stop()

        call.hang_up = end_call
        platform: asyncio.Future[Any] = asyncio.ensure_future(
            self._exchange.carry_media(call.organization_id, call.request, call.near.open, person.read_along)
        )
        pacing = asyncio.create_task(line.run())
        try:
            await far.open(PhoneReceiver(line))
            wire.send_start(call.call_id)
            acting = asyncio.create_task(person.act_out(behavior))
            await asyncio.wait({acting, platform}, return_when=asyncio.FIRST_COMPLETED)
            acting.cancel()
            error = (await asyncio.gather(acting, return_exceptions=True))[0]
            if isinstance(error, Exception) and not isinstance(error, LineIsDead | TimeoutError):
                raise error
        finally:
            end_call()
            pacing.cancel()
            try:
                await platform
            finally:
                far.close()

    async def _report_status(
        self, call: _SandboxCall, status: str, *, outcome: str | None = None, end_reason: str | None = None
    ) -> None:
        call.status = status
        if status in FINAL_STATES:
            try:
                await self._log.record_end(call.call_id, status)
            except OSError as error:
                log.warning("sandbox_call_log_failed", call_id=call.call_id, error=str(error))
        update = StatusUpdate(status, call_id=call.call_id, outcome=outcome, end_reason=end_reason)
        await self._exchange.report_status(call.organization_id, call.request.run_id, update)
