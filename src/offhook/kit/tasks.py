"""asyncio tasks that are referenced, named and logged: none is collected while it runs, none fails silently."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog

T = TypeVar("T")
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


async def cancel_task(task: asyncio.Task[Any] | None) -> None:
    """Cancels a task and waits for its end; None and finished tasks are accepted."""
    if task is None:
        return
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
