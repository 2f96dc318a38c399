"""Measures how late the event loop is, which shows whether a process is overloaded."""

import asyncio
import time
from collections import deque
from statistics import median
from typing import Final

SAMPLE_INTERVAL_S: Final = 0.1
# Five seconds: one slow moment is no overload.
MAX_SAMPLES: Final = 50


class LoopLateness:
    """Measures until canceled. Half of the last five seconds' moments were at least ``lateness_s`` late."""

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=MAX_SAMPLES)

    @property
    def lateness_s(self) -> float:
        """Returns 0 before the first five seconds are over."""
        return median(self._samples) if len(self._samples) == MAX_SAMPLES else 0.0

    def add_sample(self, late_s: float) -> None:
        self._samples.append(max(0.0, late_s))

    async def measure(self) -> None:
        while True:
            due = time.monotonic() + SAMPLE_INTERVAL_S
            await asyncio.sleep(SAMPLE_INTERVAL_S)
            self.add_sample(time.monotonic() - due)
