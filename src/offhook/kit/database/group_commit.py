"""Group commit: what several tasks want written at the same time is written together, and each hears of its own."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MAX_BATCH_SIZE: Final = 100


class GroupCommit(Generic[T, R]):
    """``work`` takes items in the order in which they came and answers as many results, in one transaction of its own.

    One batch is under way at a time; what comes meanwhile is the next one, so that batches grow with the load and a
    single item waits for nobody. When a batch of several fails, each of its items is tried alone, so that one that
    cannot be written costs nobody else: ``work`` must bear being repeated after a commit whose answer was lost.
    ``max_wait_s``: how long the first of a batch waits for company.
    """

    def __init__(self, work: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, max_wait_s: float = 0.0) -> None:
        self._work = work
        self._max_wait_s = max_wait_s
        self._waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def submit(self, item: T) -> R:
        """Returns the item's result, or raises its error, once it is written, even if the caller is cancelled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, done))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run_batches())
        return await asyncio.shield(done)

    async def _run_batches(self) -> None:
        while self._waiting:
            # at least one turn of the loop: whoever was woken by the same thing joins this batch
            await asyncio.sleep(self._max_wait_s)
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_BATCH_SIZE))]
            await self._write_batch(batch)

    async def _write_batch(self, batch: Sequence[tuple[T, "asyncio.Future[R]"]]) -> None:
        try:
            results = await self._work([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - told to whoever waits, who lets it go on
            if len(batch) == 1:
                _tell(batch[0][1], error)
                return
            for one in batch:
                await self._write_batch([one])
            return
        except BaseException:
            for _, done in batch:
                done.cancel()
            raise
        for (_, done), result in zip(batch, results, strict=True):
            if not done.done():
                done.set_result(result)


def _tell(done: "asyncio.Future[R]", error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
        done.exception()  # seen: a caller that was cancelled does not leave it to the garbage collector's log
