"""Background tasks end with their owner, and their failures are heard."""

import asyncio
import threading

from structlog.testing import capture_logs

from offhook.kit.tasks import TaskTracker, cancel_task, finish_in_thread


async def test_a_failure_is_logged_by_name() -> None:
    async def fail() -> None:
        raise RuntimeError("boom")

    tasks = TaskTracker()
    with capture_logs() as logs:
        await asyncio.wait({tasks.start(fail(), name="meter")})
        await asyncio.sleep(0)
    assert [(entry["event"], entry["task"]) for entry in logs] == [("task_failed", "meter")]
    assert len(tasks) == 0


async def test_close_cancels_what_still_runs_and_waits_for_it() -> None:
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    tasks = TaskTracker()
    tasks.start(work(), name="work")
    await asyncio.sleep(0)
    await tasks.close()
    assert cleaned.is_set()
    assert len(tasks) == 0


async def test_cancel_takes_nothing_and_finished_tasks_alike() -> None:
    await cancel_task(None)
    done = asyncio.create_task(asyncio.sleep(0))
    await done
    await cancel_task(done)
    assert not done.cancelled()


async def test_a_thread_hears_that_its_caller_left() -> None:
    end = threading.Event()
    task = asyncio.create_task(finish_in_thread(end.wait, on_cancel=end.set))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await cancel_task(task)
    assert task.cancelled()
