"""Group commit: writes submitted at the same time share a transaction, and each caller gets its own result."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

MAX_BATCH_SIZE: Final = 100


class GroupCommit(Generic[T, R]):
    """Batches items. ``work`` takes them in arrival order and returns as many results, in one transaction of its own.

    One batch runs at a time; items that arrive during it form the next one, so that batches grow with the load and
    a single item never waits. When a batch of several fails, each of its items is retried alone, so that a bad item
    does not fail the others: ``work`` must tolerate being repeated after a commit whose confirmation was lost.
    ``max_wait_s``: how long the first item of a batch waits for others.
    """

    def __init__(self, work: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, max_wait_s: float = 0.0) -> None:
        self._work = work
        self._max_wait_s = max_wait_s
        self._waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def submit(self, item: T) -> R:
        """Returns the item's result, or raises its error, once it is written, even if the caller is canceled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, done))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run_batches())
        return await asyncio.shield(done)

    async def _run_batches(self) -> None:
        while self._waiting:
            # at least one turn of the loop: callers woken by the same event join this batch
            await asyncio.sleep(self._max_wait_s)
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_BATCH_SIZE))]
            await self._write_batch(batch)

    async def _write_batch(self, batch: Sequence[tuple[T, "asyncio.Future[R]"]]) -> None:
        try:
            results = await self._work([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - passed to the waiting callers, who re-raise it
            if len(batch) > 1:
                for one in batch:
                    await self._write_batch([one])
            elif not (done := batch[0][1]).done():
                done.set_exception(error)
                done.exception()  # retrieved: a canceled caller must not leave it to the garbage collector's log
            return
        except BaseException:
            for _, done in batch:
                done.cancel()
            raise
        for (_, done), result in zip(batch, results, strict=True):
            if not done.done():
                done.set_result(result)
