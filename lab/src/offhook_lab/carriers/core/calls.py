"""One leg of a call: its states, its phone, its peer, and its tasks."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from offhook.kit.audio import FRAME_S
from offhook.kit.tasks import TaskTracker
from offhook.telephony.media.simulated_phone import MAX_CATCH_UP_S
from offhook_lab.carriers.core.phones import AudioPeer, EmulatedPhone, PhoneDisconnected, PhonePlan
from offhook_lab.carriers.core.stream import MediaStream

Status = Literal["queued", "initiated", "ringing", "answered", "ended"]
# End causes in neutral terms. rejected: by the called phone, or by us for an inbound call.
Cause = Literal["normal", "busy", "no_answer", "rejected", "unreachable", "canceled", "failed", "time_limit"]
Who = Literal["caller", "callee", "api", "carrier"]
_ORDER: Final = ("queued", "initiated", "ringing", "answered", "ended")


class CallObserver(Protocol):
    """The carrier's view of a call's events."""

    def now(self) -> datetime: ...

    def send_status(self, call: "EmulatedCall", status: Status) -> None:
        """Reports that the call has just entered this status."""
        ...

    def report_digit(self, call: "EmulatedCall", digit: str) -> None: ...


@dataclass(eq=False)
class EmulatedCall:
    """One leg. ``id`` is the carrier's id of it. ``spoken`` are the texts that the carrier said to the phone,
    ``played`` the URLs of audio; ``errors`` the parts of our documents and commands that the carrier did not
    understand; ``rejected`` the reason when we refused an inbound call. ``extra`` is the carrier's own data."""

    board: CallObserver
    id: str
    direction: Literal["inbound", "outbound"]
    from_number: str
    to_number: str
    phone: EmulatedPhone
    plan: PhonePlan
    parent: "EmulatedCall | None" = None
    status: Status = "queued"
    cause: Cause | None = None
    ended_by: Who | None = None
    rejected: str | None = None
    spoken: list[str] = field(default_factory=list)
    played: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    streams: list[MediaStream] = field(default_factory=list)
    children: list["EmulatedCall"] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.created_at = self.board.now()
        self.answered_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.ended = asyncio.Event()
        self.answered = asyncio.Event()
        self.peer: AudioPeer | None = None
        self._tasks = TaskTracker()
        self._program: asyncio.Task[Any] | None = None
        self.phone.on_hang_up = self._hung_up_by_phone
        self.phone.on_digit = lambda digit: self.board.report_digit(self, digit)

    @property
    def stream(self) -> MediaStream | None:
        """Returns the last media socket."""
        return self.streams[-1] if self.streams else None

    @property
    def is_over(self) -> bool:
        return self.status == "ended"

    @property
    def duration_s(self) -> int:
        """Returns whole seconds from the answer to the end, at least 1 for an answered call; 0 for others."""
        if self.answered_at is None:
            return 0
        until = self.ended_at or self.board.now()
        return max(1, round((until - self.answered_at).total_seconds()))

    def advance_to(self, status: Status) -> None:
        """Advances to a status, never back."""
        if not self.is_over and _ORDER.index(status) > _ORDER.index(self.status):
            self.status = status
            self.board.send_status(self, status)

    def answer(self) -> None:
        """Answers the phone: audio flows and its script begins."""
        if self.answered.is_set() or self.is_over:
            return
        self.answered_at = self.board.now()
        self.answered.set()
        self.advance_to("answered")
        self._tasks.start(self._run_audio(), name="lab.phone")
        if self.plan.script is not None:
            self._tasks.start(self._run_script(), name="lab.script")

    def connect_to(self, side: AudioPeer | None) -> None:
        """Connects the phone to this peer instead of the previous one."""
        if self.peer is not None and self.peer is not side:
            self.peer.leave()
        self.peer = self.phone.peer = side
        if isinstance(side, MediaStream):
            self.streams.append(side)

    def run_program(self, program: Coroutine[Any, Any, Any]) -> None:
        """Lets this program control the call instead of the previous one."""
        if self.is_over:
            program.close()
            return
        if self._program is not None and self._program is not asyncio.current_task():
            self._program.cancel()
        self._program = self._tasks.start(program, name="lab.program")

    def run_beside(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs a task until the call ends."""
        if self.is_over:
            work.close()
            return
        self._tasks.start(work, name="lab.beside")

    def end(self, cause: Cause = "normal", by: Who = "api") -> None:
        """Ends the call. Idempotent; all tasks of the call stop, except the one that called this."""
        if self.is_over:
            return
        self.cause, self.ended_by = cause, by
        self.ended_at = self.board.now()
        self.phone.stop()
        if self.peer is not None:
            self.peer.leave()
        self.advance_to("ended")
        self.ended.set()
        asyncio.get_running_loop().call_soon(self._stop_tasks, asyncio.current_task())

    def _stop_tasks(self, but: "asyncio.Task[Any] | None") -> None:
        self._tasks.cancel(excluded=but)

    def _hung_up_by_phone(self) -> None:
        self.end(
            "normal" if self.answered.is_set() else "canceled", "caller" if self.direction == "inbound" else "callee"
        )

    async def _run_script(self) -> None:
        assert self.plan.script is not None
        try:
            await self.plan.script(self.phone)
        except PhoneDisconnected:
            return

    async def _run_audio(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self.is_over:
            now = loop.time()
            if now - due > MAX_CATCH_UP_S:
                due = now
            while due <= now + 1e-6 and not self.is_over:
                self.phone.exchange_frame()
                due += FRAME_S
            await asyncio.sleep(max(0.0, due - loop.time()))
