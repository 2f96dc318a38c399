"""Which edge an answer means, as the model that reads edges sees it; nothing where it is not installed."""

import asyncio
from collections import OrderedDict
from typing import Final

import structlog

from offhook.models.edge_reading import AnswerToRead, EdgeOdds, ReadEdges

# 1 kB each: a turn asks for the same one two or three times, and a play for those of the plays before.
MAX_KEPT: Final = 2048
RETRY_AFTER_S: Final = 300.0
_NO_ANSWERS: Final = (AnswerToRead("", "", ()), AnswerToRead("", "", (), is_second=True))
log = structlog.get_logger(__name__)


class EdgeReadings:
    """Odds of edges, kept for the turn that is decided again with them. One per process."""

    def __init__(self, read: ReadEdges | None = None) -> None:
        self._read = read
        self._kept: OrderedDict[AnswerToRead, EdgeOdds] = OrderedDict()
        self._wanted: dict[AnswerToRead, None] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._retry_at = 0.0
        self._is_loaded = False

    def odds(self, answer: AnswerToRead) -> EdgeOdds | None:
        """Returns the odds of an answer that was read; None, and it is wanted, when it was not."""
        found = self._kept.get(answer)
        if found is None and self._read is not None:
            self._wanted[answer] = None
        return found

    async def read_wanted(self, deadline: float) -> bool:
        """Reads what was wanted since the last call, until ``deadline`` by the loop's time; returns True if any was read.

        A missing, failing or slow model leaves it unread; a slow one goes on for the next turn.
        """
        wanted, self._wanted = list(self._wanted), {}
        loop = asyncio.get_running_loop()
        if self._read is None or not wanted or loop.time() < self._retry_at:
            return False
        task = self._start(self._read, wanted)
        await asyncio.wait({task}, timeout=max(0.0, deadline - loop.time()))
        return any(answer in self._kept for answer in wanted)

    def load_ahead(self) -> None:
        """Starts to read answers without words, once: the first caller waits for no model to be loaded."""
        if self._read is not None and not self._is_loaded:
            self._is_loaded = True
            self._start(self._read, list(_NO_ANSWERS))

    def _start(self, read: ReadEdges, wanted: list[AnswerToRead]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._read_all(read, wanted))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _read_all(self, read: ReadEdges, wanted: list[AnswerToRead]) -> None:
        try:
            for answer in wanted:
                self._kept[answer] = await read(answer)
        except Exception as error:  # noqa: BLE001 - of whatever kind: ours is another room's function
            # rules alone decide: a turn never fails for want of this model
            log.info("edges_not_read", error=str(error))
            self._retry_at = asyncio.get_running_loop().time() + RETRY_AFTER_S
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
