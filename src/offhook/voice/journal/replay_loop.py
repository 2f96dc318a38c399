"""An event loop for one replay: it waits for nothing, and its time and order of steps are those of a journal."""

import asyncio
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeVar

from offhook.voice.journal.tape_player import JournalEnded, ReplayTimers, TapePlayer

T = TypeVar("T")


class _PlayingSelector(selectors.DefaultSelector):
    """Instead of waiting for sockets, lets the loop take its next step."""

    loop: "ReplayLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.loop.take_step()
        return []


class ReplayLoop(asyncio.SelectorEventLoop):
    """Without threads and sockets: what a call needs of them is in its journal."""

    def __init__(self, player: TapePlayer) -> None:
        selector = _PlayingSelector()
        self.player = player
        player.wake = self._wake
        self._steps: deque[tuple[asyncio.Handle, Callable[[], object]]] = deque()
        self._is_urgent = False
        self._timers = ReplayTimers(self)
        super().__init__(selector)
        selector.loop = self

    def call_soon(  # type: ignore[override]  # any arguments
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        context = context or copy_context()
        handle = asyncio.Handle(callback, args, self, context)
        step = handle, partial(context.run, callback, *args)
        if self._is_urgent:
            self._steps.appendleft(step)
        else:
            self._steps.append(step)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def take_step(self) -> None:
        """Gives the call what came next until it has a step of its own to do, and runs that."""
        steps, step, timers = self._steps, self.player.step, self._timers
        step(is_ready=bool(steps), timers=timers)
        while not steps:
            step(is_ready=False, timers=timers)
        handle, run = steps.popleft()
        if not handle.cancelled():
            self._run_step(run)

    def _run_step(self, run: Callable[[], object]) -> None:
        try:
            run()
        except (SystemExit, KeyboardInterrupt, JournalEnded):
            raise
        except BaseException as error:  # noqa: BLE001 - as every event loop does: it goes on, and its handler is told
            self.call_exception_handler({"message": "A step of a replay failed.", "exception": error})

    def _wake(self, waiting: asyncio.Future[None]) -> None:
        self._is_urgent = True
        try:
            waiting.set_result(None)
        finally:
            self._is_urgent = False

    def time(self) -> float:
        return self.player.now

    def call_later(  # type: ignore[override]  # any arguments
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # any arguments
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if self.player.is_in_ms:
            # as the live loop rounds it
            when = self.time() + round(max(when - self.time(), 0.0) * 1000) / 1000
        return self._add_timer(when, callback, args, context)

    def _add_timer(
        self, when: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers.add(timer, callback, args, context)
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """The heap drops it when it comes up."""


def run_with_journal(player: TapePlayer, main: Coroutine[Any, Any, T]) -> T:
    """Runs to the end in a loop of its own, whose calling thread must not have one. Raises JournalEnded."""
    loop = ReplayLoop(player)
    # What still waits when the journal is over waits for nothing.
    loop.set_exception_handler(lambda loop, context: None)
    try:
        return loop.run_until_complete(main)
    finally:
        player.is_over = True
        with suppress(JournalEnded):
            loop.run_until_complete(_give_up(asyncio.all_tasks(loop)))
        loop.close()


async def _give_up(tasks: set[asyncio.Task[Any]]) -> None:
    """Ends what still waits."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
