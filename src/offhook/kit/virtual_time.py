"""An event loop that never waits: its clock jumps to the next timer, so that a minute of conversation takes milliseconds."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualTimeStalled(RuntimeError):
    """Nothing is ready and no timer is set: what is waited for cannot happen in this loop."""


class _NeverWaits(selectors.DefaultSelector):
    """Instead of sleeping until the next timer, moves the loop's clock to it."""

    loop: "VirtualTimeLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise VirtualTimeStalled("nothing is ready, and no timer is set")
        self.loop.advance(timeout)
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """``time()`` starts at 1000 and jumps from timer to timer. Without threads and sockets, every run is the same."""

    def __init__(self) -> None:
        selector = _NeverWaits()
        self._virtual = 1000.0
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self._virtual

    def advance(self, seconds: float) -> None:
        self._virtual += max(seconds, 0.0)


def run_on_virtual_time(main: Coroutine[Any, Any, T], *, limit_s: float) -> T:
    """Runs to the end in a loop of its own; raises TimeoutError after ``limit_s`` virtual seconds.

    The calling thread must not have a running loop.
    """
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:

        async def run_main() -> T:
            async with asyncio.timeout(limit_s):
                return await main

        return runner.run(run_main())
