"""Jobs in the database: they exist with the caller's transaction, run at least once, and failed ones stay visible."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.jobs.queue import prune_queue
from offhook.jobs.registry import JobRegistry, ScheduledJob
from offhook.jobs.scheduler import run_schedules, start_due
from offhook.jobs.worker import run_until_empty
from offhook.kit.database.database import Database
from offhook.kit.tasks import cancel_task
from offhook.root import Root


@pytest.fixture
def db(root: Root) -> Database:
    return root.db


class Recorder:
    """A handler that remembers its payloads and fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.seen: list[dict[str, Any]] = []
        self.failures = failures

    async def __call__(self, payload: dict[str, Any]) -> None:
        self.seen.append(payload)
        if self.failures:
            self.failures -= 1
            raise RuntimeError("the carrier is away")


def registry(handler: Recorder, name: str = "contact.dial", *, every_s: float | None = None) -> JobRegistry:
    made = JobRegistry()
    made.add(name, handler, every_s=every_s)
    return made


class TestEnqueue:
    async def test_a_job_runs_after_the_commit(self, db: Database) -> None:
        handler = Recorder()
        async with db.transaction() as session:
            job_id = await jobs.enqueue(session, "contact.dial", {"contact_id": 7, "name": "Zoë"})
            await run_until_empty(db, registry(handler))
            assert handler.seen == [], "nothing before the commit"
        assert isinstance(job_id, int)
        await run_until_empty(db, registry(handler))
        assert handler.seen == [{"contact_id": 7, "name": "Zoë"}]

    async def test_a_rolled_back_transaction_leaves_no_job(self, db: Database) -> None:
        handler = Recorder()
        async with db.transaction() as session:
            await jobs.enqueue(session, "contact.dial", {})
            await session.rollback()
        await run_until_empty(db, registry(handler))
        assert handler.seen == []

    async def test_a_dedupe_key_holds_one_job_at_a_time(self, db: Database) -> None:
        handler = Recorder()
        async with db.transaction() as session:
            assert await jobs.enqueue(session, "contact.dial", {"n": 1}, dedupe_key="contact:7") is not None
            assert await jobs.enqueue(session, "contact.dial", {"n": 2}, dedupe_key="contact:7") is None
            assert await jobs.enqueue(session, "contact.dial", {"n": 3}, dedupe_key="contact:8") is not None
        await run_until_empty(db, registry(handler))
        assert sorted(p["n"] for p in handler.seen) == [1, 3]

        async with db.transaction() as session:
            assert await jobs.enqueue(session, "contact.dial", {"n": 4}, dedupe_key="contact:7") is not None

    async def test_a_delayed_job_waits(self, db: Database) -> None:
        async with db.transaction() as session:
            await jobs.enqueue(session, "contact.dial", {}, delay_s=90)
            due_in_s = await session.scalar(text("SELECT extract(epoch FROM execute_after - now()) FROM pgqueuer"))
        assert float(due_in_s or 0) == pytest.approx(90, abs=1)


class TestFailures:
    async def test_a_failing_job_is_tried_again_later_and_runs_in_the_end(self, db: Database) -> None:
        handler = Recorder(failures=1)
        async with db.transaction() as session:
            await jobs.enqueue(session, "contact.dial", {"n": 1})
        await run_until_empty(db, registry(handler))
        assert handler.seen == [{"n": 1}, {"n": 1}]
        async with db.transaction() as session:
            assert await jobs.failed_jobs(session) == []

    async def test_a_job_that_used_up_its_retries_stays_visible_and_can_be_started_again(self, db: Database) -> None:
        handler = Recorder(failures=1)
        async with db.transaction() as session:
            job_id = await jobs.enqueue(session, "contact.dial", {"n": 1})
            await session.execute(text("UPDATE pgqueuer SET attempts = 5"))
        await run_until_empty(db, registry(handler))
        async with db.transaction() as session:
            (failed,) = await jobs.failed_jobs(session)
            assert (failed.id, failed.name, failed.payload) == (job_id, "contact.dial", {"n": 1})
            assert failed.error == "the carrier is away"

            assert await jobs.requeue_failed_job(session, failed.id)
            assert not await jobs.requeue_failed_job(session, failed.id), "it is not failed any more"
            assert await jobs.requeue_failed_jobs(session) == 0
        await run_until_empty(db, registry(handler))
        assert len(handler.seen) == 2
        async with db.transaction() as session:
            assert await jobs.failed_jobs(session) == []

    async def test_failed_jobs_of_one_key_are_all_started_again(self, db: Database) -> None:
        """A document that failed twice stopped `offhook jobs retry --all`, for all other jobs too."""
        handler = Recorder(failures=3)
        for n in (1, 2, 3):
            async with db.transaction() as session:
                assert await jobs.enqueue(session, "contact.dial", {"n": n}, dedupe_key="contact:7") is not None
                await session.execute(text("UPDATE pgqueuer SET attempts = 5"))
            await run_until_empty(db, registry(handler))
        async with db.transaction() as session:
            third, second, first = [job.id for job in await jobs.failed_jobs(session)]
            assert await jobs.requeue_failed_job(session, first)
            assert await jobs.enqueue(session, "contact.dial", {"n": 4}, dedupe_key="contact:7") is None
            assert await jobs.requeue_failed_job(session, second)
            assert await jobs.requeue_failed_jobs(session) == 1
            keys = await session.execute(text("SELECT id FROM pgqueuer WHERE dedupe_key IS NOT NULL"))
            assert keys.scalars().all() == [first]
            await session.execute(text("UPDATE pgqueuer SET status = 'failed', dedupe_key = 'contact:7'"))
        async with db.transaction() as session:
            assert await jobs.requeue_failed_jobs(session) == 3
            keys = await session.execute(text("SELECT id FROM pgqueuer WHERE dedupe_key IS NOT NULL"))
            assert keys.scalars().all() == [third]
        await run_until_empty(db, registry(handler))
        assert sorted(seen["n"] for seen in handler.seen[3:]) == [1, 2, 3]

    async def test_a_failing_schedule_is_not_retried_and_not_kept(self, db: Database) -> None:
        handler = Recorder(failures=9)
        scheduled = registry(handler, "runs.sweep", every_s=5)
        await start_due(db, scheduled.schedules)
        await run_until_empty(db, scheduled)
        assert len(handler.seen) == 1
        async with db.transaction() as session:
            assert await jobs.failed_jobs(session) == []


class TestSchedules:
    async def test_of_many_workers_one_starts_it(self, db: Database) -> None:
        schedules = [ScheduledJob("runs.sweep", 5), ScheduledJob("jobs.prune", 3600)]
        assert sorted(await start_due(db, schedules)) == ["jobs.prune", "runs.sweep"]
        assert await start_due(db, schedules) == []

    async def test_when_it_is_due_again_it_starts_again_unless_the_last_one_still_waits(self, db: Database) -> None:
        schedules = [ScheduledJob("runs.sweep", 5)]
        handler = Recorder()
        await start_due(db, schedules)
        await self.time_passes(db)
        assert await start_due(db, schedules) == []
        await run_until_empty(db, registry(handler, "runs.sweep"))
        await self.time_passes(db)
        assert await start_due(db, schedules) == ["runs.sweep"]

    @staticmethod
    async def time_passes(db: Database) -> None:
        async with db.transaction() as session:
            await session.execute(text("UPDATE job_schedules SET next_at = now() - interval '1 second'"))


class TestHealth:
    async def test_monitors_see_how_many_jobs_wait_and_how_long(self, db: Database) -> None:
        async with db.transaction() as session:
            for number in range(2):
                await jobs.enqueue(session, "greet", {"number": number})
            await session.execute(text("UPDATE pgqueuer SET execute_after = now() - interval '30 s'"))
            await jobs.observe_backlog(session)
        assert REGISTRY.get_sample_value("offhook_queued_jobs") == 2
        assert 30 <= (REGISTRY.get_sample_value("offhook_oldest_job_seconds") or 0) < 90

    async def test_an_empty_queue_is_healthy(self, db: Database) -> None:
        assert await jobs.is_healthy(db)

    async def test_work_that_nobody_takes_is_not(self, db: Database) -> None:
        async with db.transaction() as session:
            await jobs.enqueue(session, "contact.dial", {})
            await session.execute(text("UPDATE pgqueuer SET execute_after = now() - interval '2 minutes'"))
        assert not await jobs.is_healthy(db)

    async def test_a_backlog_that_is_worked_on_is(self, db: Database) -> None:
        async with db.transaction() as session:
            await jobs.enqueue(session, "contact.dial", {})
            await jobs.enqueue(session, "contact.dial", {})
            await session.execute(text("UPDATE pgqueuer SET execute_after = now() - interval '2 minutes'"))
            await session.execute(text("UPDATE pgqueuer_log SET status = 'picked' WHERE job_id = 1"))
        assert await jobs.is_healthy(db)


class _BusyDatabase(Database):
    """Has no connection left the first time that one is wanted."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.refused = 0

    @asynccontextmanager
    async def transaction(self, organization_id: int | None = None) -> AsyncIterator[AsyncSession]:
        if not self.refused:
            self.refused += 1
            raise PoolTimeout("QueuePool limit of size 9 overflow 11 reached")
        async with super().transaction(organization_id) as session:
            yield session


async def test_schedules_outlive_a_moment_without_connections(database_url: str) -> None:
    db = _BusyDatabase(database_url)
    schedules = asyncio.create_task(run_schedules(db, [ScheduledJob("runs.sweep", 0.2)]))
    try:
        async with asyncio.timeout(20):
            while not await _count_jobs(db):
                assert not schedules.done()
                await asyncio.sleep(0.02)
    finally:
        await cancel_task(schedules)
        await db.dispose()
    assert db.refused == 1


async def _count_jobs(db: _BusyDatabase) -> int:
    if not db.refused:
        return 0
    async with db.transaction() as session:
        return int((await session.execute(text("SELECT count(*) FROM pgqueuer"))).scalar_one())


async def test_old_logs_and_failures_are_forgotten(db: Database) -> None:
    async with db.transaction() as session:
        await jobs.enqueue(session, "contact.dial", {"n": "old"})
        await session.execute(text("UPDATE pgqueuer SET status = 'failed', updated = now() - interval '31 days'"))
        await session.execute(text("UPDATE pgqueuer_log SET created = now() - interval '15 days'"))
        await jobs.enqueue(session, "contact.dial", {"n": "new"})
    await prune_queue(db, {})
    async with db.transaction() as session:
        assert await session.scalar(text("SELECT count(*) FROM pgqueuer")) == 1
        assert await session.scalar(text("SELECT count(*) FROM pgqueuer_log")) == 1
