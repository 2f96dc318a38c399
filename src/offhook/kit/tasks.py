"""asyncio tasks that are referenced, named and logged: none is collected while it runs, none fails silently."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog

T = TypeVar("T")
K = TypeVar("K")
log = structlog.get_logger(__name__)


class TaskTracker:
    """The background tasks of one owner, which ends them with :meth:`close`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Runs ``work`` in the background; a failure is logged under ``name``."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    async def close(self) -> None:
        """Cancels running tasks and waits until they have ended."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def finish(self) -> None:
        """Waits for the tasks that run now."""
        await asyncio.gather(*self._running, return_exceptions=True)

    def cancel(self, *, excluded: asyncio.Task[Any] | None = None) -> None:
        """Cancels running tasks without waiting, except ``excluded`` (the calling task)."""
        for task in list(self._running):
            if task is not excluded:
                task.cancel()

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", task=task.get_name(), exc_info=error)


async def finish_in_thread(
    function: Callable[..., T], *arguments: object, on_cancel: Callable[[], None] | None = None
) -> T:
    """Runs a blocking function in a thread. A caller canceled in the meantime continues when the function has ended:
    what it owns, such as a lock or an open file, stays intact until then. ``on_cancel`` makes it end soon."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if on_cancel is not None:
            on_cancel()
        await asyncio.wait([work])
        raise


@dataclass(slots=True, eq=False)
class _SharedTask(Generic[T]):
    task: asyncio.Task[T]
    users: int = 0


class SharedWork(Generic[K, T]):
    """Equal work of the same moment is done once, for all who want it. It ends when all of them are gone."""

    def __init__(self) -> None:
        self._running: dict[K, _SharedTask[T]] = {}

    async def join(self, key: K, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Returns what the work with this key returns, or raises what it raises; begins it when none runs."""
        shared = self._running.get(key)
        if shared is None or shared.task.done():
            shared = self._running[key] = _SharedTask(asyncio.create_task(work()))
        shared.users += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.users -= 1
            if not shared.users:
                if self._running.get(key) is shared:
                    del self._running[key]
                await cancel_task(shared.task)


async def cancel_task(task: asyncio.Task[Any] | None) -> None:
    """Cancels a task and waits for its end; None and finished tasks are accepted."""
    if task is None:
        return
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
