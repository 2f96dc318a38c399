"""Full collections stop the process: they wait for a moment in which no agent speaks."""

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from offhook.kit.processes.garbage import AT_LATEST_S, EVERY_S, FIRST_AFTER_S, FREEZES, CollectionSchedule
from offhook.kit.virtual_time import run_on_virtual_time


@dataclass
class Process:
    """What a schedule does to a process, by the clock of its loop."""

    is_speaking: bool = False
    is_idle: bool = True
    collected_s: list[float] = field(default_factory=list)
    freezes: int = 0

    def collect(self) -> None:
        self.collected_s.append(round(asyncio.get_running_loop().time() - self.began_s))

    def freeze(self) -> None:
        self.freezes += 1

    def live(self, *moments: tuple[float, bool]) -> None:
        """Goes through moments on virtual time: seconds from the start, and whether an agent speaks from then on."""
        run_on_virtual_time(self._live(moments), limit_s=3600)

    async def _live(self, moments: Sequence[tuple[float, bool]]) -> None:
        loop = asyncio.get_running_loop()
        self.began_s = loop.time()
        schedule = CollectionSchedule(
            is_speaking=lambda: self.is_speaking,
            is_idle=lambda: self.is_idle,
            collect=self.collect,
            freeze=self.freeze,
        )
        running = asyncio.ensure_future(schedule.run())
        for at_s, is_speaking in moments:
            await asyncio.sleep(self.began_s + at_s - loop.time())
            self.is_speaking = is_speaking
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_a_full_collection_waits_until_the_agent_has_spoken() -> None:
    process = Process()
    process.live((FIRST_AFTER_S - 5, True), (FIRST_AFTER_S + 10, False), (FIRST_AFTER_S + 11, False))
    assert process.collected_s == [pytest.approx(FIRST_AFTER_S + 10, abs=1)]


def test_a_process_that_always_speaks_collects_all_the_same() -> None:
    process = Process()
    process.live((0, True), (2 * AT_LATEST_S + 10, False))
    assert process.collected_s == [pytest.approx(AT_LATEST_S, abs=1), pytest.approx(2 * AT_LATEST_S, abs=1)]


def test_what_stays_is_frozen_a_few_times_and_not_while_calls_are_there() -> None:
    """Frozen cycles are never freed: those of calls must not be among them."""
    busy, idle = Process(is_idle=False), Process()
    busy.live((5 * EVERY_S, False))
    idle.live(((FREEZES + 3) * EVERY_S, False))
    assert (busy.freezes, idle.freezes) == (0, FREEZES)
    assert len(busy.collected_s) >= 4


def test_the_collector_is_as_it_was_afterwards() -> None:
    thresholds = gc.get_threshold()
    Process().live((EVERY_S, False))
    assert gc.get_threshold() == thresholds
