"""Gives a call what its journal has, in the order and at the times in which the call had it."""

import asyncio
import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, Final, Protocol

from offhook.voice.journal.answers import CLOSED, DUE
from offhook.voice.journal.kinds import ANSWER, BEEP, MEASURED, TICK, WINDOW
from offhook.voice.journal.tape import CallJournal

# The clock of a live loop has milliseconds: a timer may have been done this much before its time.
TIMER_SLACK_S: Final = 0.0015
SAME_DELAY_S: Final = 1e-6
# As in asyncio: what is due within this time is due now.
CLOCK_RESOLUTION_S: Final = 1e-9
# How long a call goes on for which the journal has nothing more, in its own seconds.
MAX_EXTRA_S: Final = 30.0
# What a call finds by its own steps; all else comes from outside.
OWN_STEPS: Final = frozenset({TICK, MEASURED, BEEP})
# Behind the last entry; no kind has this number.
NO_ENTRY: Final = -1
OWN_OR_NONE: Final = OWN_STEPS | {NO_ENTRY}
Deliver = Callable[[int, Any], object]


class JournalEnded(Exception):
    """The call waits for something that never came."""


class _Timer(Protocol):
    """A timer of the loop."""

    def when(self) -> float: ...

    def cancelled(self) -> bool: ...


class TapeTimer:
    """A timer whose time is in the journal."""

    def __init__(self, on_cancel: Callable[[], object]) -> None:
        self._on_cancel = on_cancel

    def cancel(self) -> None:
        self._on_cancel()


class TapePlayer:
    """The clock and the answers of one replay. ``deliver`` gets what the owner of a live call would do with it."""

    def __init__(self, journal: CallJournal) -> None:
        # Columns rather than entries, and with an end: each step looks at them.
        self._kinds: Sequence[int] = [*journal.kinds, NO_ENTRY]
        self._reads: Sequence[int] = [*journal.reads, 0]
        self._times: Sequence[float] = [*journal.times, 0.0]
        self._values: Sequence[Any] = [*journal.values, None]
        self._position = 0
        self._reads_left = self._reads[0]
        self.now = journal.started_at
        self.is_in_ms = journal.is_in_ms
        self.deliver: Deliver = lambda kind, value: None
        # how often the call looked at the clock, or asked, otherwise than before: 0 when it is the same
        self.deviations = 0
        self._ends_at: float | None = None
        # what still waits is given up
        self.is_over = False
        self._answers: dict[str, deque[Any]] = defaultdict(deque)
        self._waiting: dict[str, asyncio.Future[None]] = {}
        answers = [value for kind, value in zip(journal.kinds, journal.values, strict=True) if kind == ANSWER]
        self._closed = {request for request, what, _ in answers if what == CLOSED}
        self._delays = {request: delay for request, what, delay in answers if what == DUE}
        self._known = {request for request, _, _ in answers}
        # runs what waits for an answer before everything else
        self.wake: Callable[[asyncio.Future[None]], None] = lambda waiting: waiting.set_result(None)
        self._timers: dict[str, Callable[[], None]] = {}

    # -- the clock ------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """Returns the time that the call saw when it looked here."""
        if self._reads_left:
            self._reads_left -= 1
            return self.now
        self._read_on()
        return self.now

    def _read_on(self) -> None:
        """Takes what comes before the next look at the clock."""
        self._catch_up()
        if not self._reads_left:
            kind = self._kinds[self._position]
            if kind != TICK:
                self.deviations += kind != NO_ENTRY
                return
            self._advance()
        if self._reads_left:
            self._reads_left -= 1

    def _catch_up(self) -> None:
        """Gives the call what had come before it took this step: on a busy loop, others had their turn first."""
        while not self._reads_left and self._kinds[self._position] not in OWN_OR_NONE:
            self._give(self._advance())

    def _advance(self) -> int:
        """Takes the next entry; returns its place in the columns."""
        taken = self._position
        at = self._times[taken]
        if at > self.now:  # noqa: PLR1730 - a call of max() for every entry is a tenth of all of this
            self.now = at
        self._position = taken + 1
        self._reads_left = self._reads[taken + 1]
        return taken

    # -- what the call asks for in passing ------------------------------------------------------------------------

    def take_measured(self, what: str, otherwise: Any) -> Any:
        """Returns what was measured here, by its name."""
        self._catch_up()
        position = self._position
        is_this = self._kinds[position] == MEASURED and self._values[position][0] == what
        if not is_this or self._reads_left:
            self.deviations += 1
            return otherwise
        return self._values[self._advance()][1]

    def take_beep(self) -> bool:
        is_beep = self._kinds[self._position] == BEEP and not self._reads_left
        if is_beep:
            self._advance()
        return is_beep

    def take_window(self) -> float | None:
        """Returns the next window of the voice detector, if it came in this moment."""
        position = self._position
        if self._kinds[position] != WINDOW or self._reads_left or self._times[position] > self.now:
            return None
        return float(self._values[self._advance()])

    # -- answers --------------------------------------------------------------------------------------------------

    async def next_answer(self, request: str) -> tuple[str, Any]:
        """Waits for what comes next on this request: what it is, and its value."""
        if self.is_over:
            raise asyncio.CancelledError
        answers = self._answers[request]
        if not answers and self._is_next(request):
            self._answer(*self._values[self._advance()])
        while not answers:
            waiting = self._waiting[request] = asyncio.get_running_loop().create_future()
            await waiting
        what, value = answers.popleft()
        return what, value

    def _is_next(self, request: str) -> bool:
        """Returns whether the answer was there in the moment in which the call asked."""
        position = self._position
        is_now = self._kinds[position] == ANSWER and not self._reads_left and self._times[position] <= self.now
        return is_now and self._values[position][0] == request

    async def wait_closed(self, request: str) -> None:
        """Waits until the request was closed, if that took time."""
        while request in self._closed and not self.is_over:
            await self.next_answer(request)

    def knows(self, request: str) -> bool:
        """Returns whether the journal has anything about this request."""
        return request in self._known

    def knows_timer(self, request: str, delay_s: float) -> bool:
        """Returns whether this timer was due in the call: as long as it was set for, however late it was."""
        known = self._delays.get(request)
        return known is not None and abs(known - delay_s) < SAME_DELAY_S

    def add_timer(self, request: str, callback: Callable[[], None]) -> "TapeTimer":
        """Lets ``callback`` be called when the timer was due in the call."""
        self._timers[request] = callback
        return TapeTimer(lambda: self._timers.pop(request, None))

    def _answer(self, request: str, what: str, value: Any) -> None:
        if what == DUE and (callback := self._timers.pop(request, None)) is not None:
            callback()
            return
        self._answers[request].append((what, value))
        if what == CLOSED:
            self._closed.discard(request)
        waiting = self._waiting.pop(request, None)
        if waiting is not None and not waiting.done():
            self.wake(waiting)

    # -- one step of the loop -------------------------------------------------------------------------------------

    def step(self, *, is_ready: bool, timers: "ReplayTimers") -> None:
        """Decides what happens next: the call's own steps, a timer of it, or what comes from outside."""
        kind = self._kinds[self._position]
        if self.is_over:
            if not is_ready:
                raise JournalEnded
            return
        if kind == NO_ENTRY:
            self._go_on_alone(timers, is_ready=is_ready)
            return
        at = self._times[self._position]
        is_own_turn = kind in OWN_STEPS or self._reads_left > 0
        if is_ready and (is_own_turn or at > self.now):
            return
        if is_own_turn:
            # Had time gone on otherwise, the call would have noticed.
            due = at if kind == TICK and not self._reads_left else self.now
            if timers.run_due(due, slack_s=TIMER_SLACK_S):
                self.now = max(self.now, due)
                return
            # Nothing of this call looks at the clock here.
            self.deviations += 1
            self._reads_left = 0
            if kind in OWN_STEPS:
                self._advance()
                return
        while self._give(self._advance()):
            """What came in the same moment, before the call had done anything else."""

    def _give(self, taken: int) -> bool:
        """Gives the call an entry; returns whether it gets the next one before its own steps."""
        kind = self._kinds[taken]
        if kind == ANSWER:
            self._answer(*self._values[taken])
            return False
        self.deliver(kind, self._values[taken])
        following = self._position
        is_now = not self._reads_left and self._times[following] <= self.now
        return is_now and self._kinds[following] not in OWN_OR_NONE

    def _go_on_alone(self, timers: "ReplayTimers", *, is_ready: bool) -> None:
        if is_ready:
            return
        self._ends_at = self._ends_at or self.now + MAX_EXTRA_S
        due_at = timers.next_due()
        if due_at is None or due_at > self._ends_at:
            raise JournalEnded
        self.now = max(self.now, due_at)
        timers.run_due(self.now)


class ReplayTimers:
    """The timers of a replay's loop, which run when its player says so."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._heap: list[tuple[float, int, _Timer, Callable[..., object], tuple[Any, ...], Context | None]] = []
        self._count = 0

    def add(
        self, timer: _Timer, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> None:
        self._count += 1
        heapq.heappush(self._heap, (timer.when(), self._count, timer, callback, args, context))

    def next_due(self) -> float | None:
        """Returns when the next timer is due; None without one."""
        while self._heap and self._heap[0][2].cancelled():
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_due(self, now: float, *, slack_s: float = 0.0) -> bool:
        """Runs the timers that are due, or the next one if it is due within the slack; returns whether there are any."""
        due_at = self.next_due()
        if due_at is None or due_at > now + slack_s:
            return False
        self._run_next()
        while (due_at := self.next_due()) is not None and due_at < now + CLOCK_RESOLUTION_S:
            self._run_next()
        return True

    def _run_next(self) -> None:
        _, _, timer, callback, args, context = heapq.heappop(self._heap)
        self._loop.call_soon(_run_unless_canceled, timer, callback, args, context=context)


def _run_unless_canceled(timer: _Timer, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
    if not timer.cancelled():
        callback(*args)
