"""Background tasks end with their owner, and their failures are heard."""

import asyncio
import threading

from structlog.testing import capture_logs

from offhook.kit.tasks import SharedWork, TaskTracker, cancel_task, finish_in_thread


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


class TestSharedWork:
    """The work is counted, and ends when it is told to."""

    def setup_method(self) -> None:
        self.shared: SharedWork[str, int] = SharedWork()
        self.begun, self.canceled = 0, 0
        self.end = asyncio.Event()

    async def work(self) -> int:
        self.begun += 1
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.canceled += 1
            raise
        return self.begun

    async def join(self, key: str = "report") -> asyncio.Task[int]:
        task = asyncio.create_task(self.shared.join(key, self.work))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task

    async def test_equal_work_is_done_once(self) -> None:
        same = [await self.join() for _ in range(3)]
        other = await self.join("another")
        assert self.begun == 2
        self.end.set()
        assert await asyncio.gather(*same, other) == [2] * 4
        assert await (await self.join()) == 3, "later work is done again"

    async def test_who_leaves_takes_nothing_from_the_others(self) -> None:
        first, second = await self.join(), await self.join()
        await cancel_task(first)
        assert self.canceled == 0
        self.end.set()
        assert await second == 1

    async def test_it_ends_with_the_last_one(self) -> None:
        tasks = [await self.join(), await self.join()]
        for task in tasks:
            await cancel_task(task)
        assert self.canceled == 1
        again = await self.join()
        self.end.set()
        assert await again == 2

    async def test_all_hear_of_a_failure(self) -> None:
        async def fail() -> int:
            await self.end.wait()
            raise RuntimeError("boom")

        tasks = [asyncio.create_task(self.shared.join("report", fail)) for _ in range(2)]
        await asyncio.sleep(0)
        self.end.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(error) for error in done] == ["boom", "boom"]


async def test_a_thread_hears_that_its_caller_left() -> None:
    end = threading.Event()
    task = asyncio.create_task(finish_in_thread(end.wait, on_cancel=end.set))
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await cancel_task(task)
    assert task.cancelled()
