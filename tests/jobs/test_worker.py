"""Workers that are killed: another one finishes their jobs."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from offhook import jobs
from offhook.jobs.queue import FailedJob
from offhook.jobs.registry import JobRegistry
from offhook.jobs.shares import OrganizationShares
from offhook.jobs.worker import ListeningDriver, open_job_pool, run_worker
from offhook.kit.database.database import Database

# A worker in a process of its own, whose job tells us that it began and then takes a minute.
SLOW_WORKER = """
import asyncio, sys
from datetime import timedelta
from offhook.jobs.registry import JobRegistry
from offhook.jobs.worker import ListeningDriver, open_job_pool, run_worker
from offhook.kit.database.database import Database

async def slow(payload):
    print("began", payload["n"], flush=True)
    await asyncio.sleep(60)

async def main():
    registry = JobRegistry()
    registry.add("document.read", slow)
    await run_worker(Database(sys.argv[1]), registry, asyncio.Event(), heartbeat_timeout=timedelta(seconds=1))

asyncio.run(main())
"""
QUICK: dict[str, Any] = {"heartbeat_timeout": timedelta(seconds=1), "dequeue_timeout": timedelta(seconds=0.2)}


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.dispose()


async def test_a_killed_workers_job_is_finished_by_another(db: Database) -> None:
    async with db.transaction() as session:
        await jobs.enqueue(session, "document.read", {"n": 7})
    victim = subprocess.Popen([sys.executable, "-c", SLOW_WORKER, db.url], stdout=subprocess.PIPE, text=True)
    assert victim.stdout is not None
    assert await asyncio.to_thread(victim.stdout.readline) == "began 7\n"
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()

    finished = asyncio.Event()
    seen = []

    async def read(payload: dict[str, object]) -> None:
        seen.append(payload)
        finished.set()

    registry = JobRegistry()
    registry.add("document.read", read)
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    async with asyncio.timeout(60):
        await finished.wait()
        stop.set()
        await worker
    assert seen == [{"n": 7}]
    async with db.transaction() as session:
        assert await session.scalar(text("SELECT count(*) FROM pgqueuer")) == 0


async def test_stopping_a_worker_lets_its_job_end(db: Database) -> None:
    began, stop = asyncio.Event(), asyncio.Event()
    ended = asyncio.Event()

    async def read(_: dict[str, object]) -> None:
        began.set()
        await stop.wait()
        await asyncio.sleep(0.05)
        ended.set()

    registry = JobRegistry()
    registry.add("document.read", read)
    async with db.transaction() as session:
        await jobs.enqueue(session, "document.read", {})
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    async with asyncio.timeout(60):
        await began.wait()
        stop.set()
        await worker
    assert ended.is_set()


async def test_a_job_that_does_not_end_in_time_is_left_to_another_worker(db: Database) -> None:
    began, stop = asyncio.Event(), asyncio.Event()

    async def read(_: dict[str, object]) -> None:
        began.set()
        await asyncio.sleep(600)

    registry = JobRegistry()
    registry.add("document.read", read)
    async with db.transaction() as session:
        await jobs.enqueue(session, "document.read", {"n": 8})
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK, drain_timeout_s=0.1))
    async with asyncio.timeout(60):
        await began.wait()
        stop.set()
        await worker
    seen, again = list[object](), asyncio.Event()

    async def read_again(payload: dict[str, object]) -> None:
        seen.append(payload)
        again.set()

    registry, stop = JobRegistry(), asyncio.Event()
    registry.add("document.read", read_again)
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    try:
        async with asyncio.timeout(10):
            await again.wait()
    finally:
        stop.set()
        await worker
    assert seen == [{"n": 8}]


async def test_a_job_that_ends_all_its_workers_is_put_aside(db: Database) -> None:
    ran = list[object]()

    async def read(payload: dict[str, object]) -> None:
        ran.append(payload)

    registry = JobRegistry()
    registry.add("document.read", read)
    async with db.transaction() as session:
        deadly = await jobs.enqueue(session, "document.read", {"n": 1})
        unlucky = await jobs.enqueue(session, "document.read", {"n": 2})
        # as workers that were killed leave them: started, and silent since
        await session.execute(
            text(
                "UPDATE pgqueuer SET status = 'picked', heartbeat = now() - interval '1 hour',"
                " execute_after = now() - interval '1 hour', queue_manager_id = gen_random_uuid()"
            )
        )
        await session.execute(
            text(
                "INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)"
                " SELECT id, 'picked', 'document.read', 0 FROM (SELECT CAST(:deadly AS bigint) AS id FROM generate_series(1, 5)"
                "  UNION ALL SELECT CAST(:unlucky AS bigint) FROM generate_series(1, 4)) AS started"
            ),
            {"deadly": deadly, "unlucky": unlucky},
        )
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    async with asyncio.timeout(60):
        while not (failed := await _read_failed(db)):
            await asyncio.sleep(0.05)
        assert [(job.id, job.error) for job in failed] == [(deadly, "5 workers ended while they ran this job.")]
        async with db.transaction() as session:
            assert await jobs.requeue_failed_job(session, failed[0].id)
        while {"n": 1} not in ran:
            await asyncio.sleep(0.05)
        stop.set()
        await worker
    assert ran == [{"n": 2}, {"n": 1}]


async def _read_failed(db: Database) -> list[FailedJob]:
    async with db.transaction() as session:
        return await jobs.failed_jobs(session)


@pytest.mark.slow
async def test_a_schedule_runs_again_and_again_on_one_of_two_workers(db: Database) -> None:
    ran: list[str] = []

    def worker(name: str) -> asyncio.Task[None]:
        async def sweep(_: dict[str, object]) -> None:
            ran.append(name)

        registry = JobRegistry()
        registry.add("runs.sweep", sweep, every_s=0.5)
        return asyncio.create_task(run_worker(db, registry, stop, **QUICK))

    stop = asyncio.Event()
    workers = [worker("first"), worker("second")]
    began = time.monotonic()
    async with asyncio.timeout(60):
        while len(ran) < 4:
            await asyncio.sleep(0.05)
        stop.set()
        await asyncio.gather(*workers)
    assert len(ran) <= (time.monotonic() - began) / 0.5 + 1, "once every half second, not once a worker"


async def test_a_worker_outlives_a_lost_connection(db: Database) -> None:
    seen = asyncio.Event()

    async def read(_: dict[str, object]) -> None:
        seen.set()

    registry = JobRegistry()
    registry.add("document.read", read)
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    await asyncio.sleep(0.5)
    async with db.transaction() as session:
        await session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    async with asyncio.timeout(40):
        async with db.transaction() as session:
            await jobs.enqueue(session, "document.read", {})
        await seen.wait()
        stop.set()
        await worker


async def test_a_pool_closes_though_a_connection_was_never_given_back(db: Database) -> None:
    async with asyncio.timeout(60):
        async with open_job_pool(db, max_size=2, close_timeout_s=0.1) as pool:
            lost = await pool.acquire()
    with pytest.raises(asyncpg.InterfaceError):
        await lost.fetchval("SELECT 1")


async def test_the_first_probe_waits_until_the_worker_listens(database_url: str) -> None:
    async with asyncpg.create_pool(database_url.replace("+asyncpg", ""), min_size=2, max_size=4) as pool:
        driver = ListeningDriver(pool)
        heard: asyncio.Queue[str | bytes | bytearray] = asyncio.Queue()
        async with driver:
            probe = asyncio.create_task(driver.notify("ch_test", "are you there?"))
            await asyncio.sleep(0.05)
            await driver.add_listener("ch_test", heard.put_nowait)
            async with asyncio.timeout(60):
                assert await heard.get() == "are you there?"
            await probe


async def test_hanging_servers_of_one_organization_hold_up_nobody(db: Database) -> None:
    """Forty webhook nodes of one organization whose server never answers; one of another, a document, and a tick."""
    hang, seen = asyncio.Event(), set[str]()
    done = asyncio.Event()
    hanging = delivered = most = 0

    def note(what: str) -> None:
        seen.add(what)
        if seen >= {"webhook", "document", "tick"}:
            done.set()

    async def deliver(payload: dict[str, int]) -> None:
        nonlocal hanging, delivered, most
        if payload["organization_id"] == 1:
            hanging += 1
            most = max(most, hanging)
            await hang.wait()
            hanging -= 1
            delivered += 1
        else:
            note("webhook")

    async def read(_: dict[str, object]) -> None:
        note("document")

    async def tick(_: dict[str, object]) -> None:
        note("tick")

    registry = JobRegistry()
    registry.add("webhook_node.deliver", deliver, lane="requests", shares=OrganizationShares(4, 2))
    registry.add("document.read", read)
    registry.add("campaign.tick", tick, lane="platform")
    async with db.transaction() as session:
        for organization_id in [*[1] * 40, 2]:
            await jobs.enqueue(session, "webhook_node.deliver", {"organization_id": organization_id})
        await jobs.enqueue(session, "document.read", {"organization_id": 2})
        await jobs.enqueue(session, "campaign.tick", {})
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(db, registry, stop, **QUICK))
    async with asyncio.timeout(60):
        await done.wait()
        stop.set()
        hang.set()
        await worker
    assert most <= 2
    async with db.transaction() as session:
        left = await session.scalar(text("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'webhook_node.deliver'"))
    assert left == 40 - delivered, "what was put off is not lost"
