"""Collects cyclic garbage when no call hears it: a full collection stops the process for 50 to 200 ms."""

import asyncio
import gc
from collections.abc import Callable
from typing import Final

# What a process loads with its first requests and calls has been loaded by then.
FIRST_AFTER_S: Final = 20.0
EVERY_S: Final = 60.0
# A process that is never quiet is stopped all the same: what calls leave behind would add up.
AT_LATEST_S: Final = 300.0
LOOK_EVERY_S: Final = 0.5
# Frozen objects are skipped by later collections, and cycles among them are kept forever: a few times are enough.
FREEZES: Final = 3
# Python must not start full collections: we run them.
NEVER: Final = 2**30
# Collecting young objects takes a millisecond. Python's default is every 700, most of which are freed soon anyway.
YOUNG: Final = 10_000


class CollectionSchedule:
    """Runs full collections for as long as :meth:`run` runs: in a moment in which nothing ``is_speaking``, or at the
    latest after five minutes. Freezes what is alive a few times, when the process ``is_idle``."""

    def __init__(
        self,
        *,
        is_speaking: Callable[[], bool],
        is_idle: Callable[[], bool],
        collect: Callable[[], object] = gc.collect,
        freeze: Callable[[], object] = gc.freeze,
    ) -> None:
        self._is_speaking = is_speaking
        self._is_idle = is_idle
        self._collect = collect
        self._freeze = freeze
        self._freezes_left = FREEZES

    async def run(self) -> None:
        thresholds = gc.get_threshold()
        gc.set_threshold(YOUNG, thresholds[1], NEVER)
        try:
            await self._wait_for_silence(FIRST_AFTER_S)
            while True:
                self._collect()
                if self._freezes_left and self._is_idle():
                    self._freezes_left -= 1
                    self._freeze()
                await self._wait_for_silence(EVERY_S)
        finally:
            gc.set_threshold(*thresholds)

    async def _wait_for_silence(self, at_least_s: float) -> None:
        loop = asyncio.get_running_loop()
        latest, pause_s = loop.time() + AT_LATEST_S, at_least_s
        while pause_s:
            await asyncio.sleep(pause_s)
            pause_s = LOOK_EVERY_S if self._is_speaking() and loop.time() < latest else 0.0
