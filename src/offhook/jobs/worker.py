"""The job loop: PgQueuer takes jobs, our handlers run them, and other workers take over a dead worker's jobs."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import asyncpg
import structlog
from pgqueuer.adapters.drivers.asyncpg import AsyncpgPoolDriver
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.executors import (
    AbstractEntrypointExecutor,
    DatabaseRetryEntrypointExecutor,
    EntrypointExecutor,
    EntrypointExecutorParameters,
)
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job
from pgqueuer.domain.types import QueueExecutionMode
from pgqueuer.ports.driver import NotifyCallback

from offhook.jobs.registry import JobHandler, JobRegistry
from offhook.jobs.scheduler import run_schedules
from offhook.kit.database.database import Database

log = structlog.get_logger(__name__)

MAX_RETRIES = 5
MIN_RETRY_DELAY = timedelta(seconds=1)
MAX_RETRY_DELAY = timedelta(minutes=5)
BATCH_SIZE = 10
# A worker that is silent for this long loses its jobs to the others.
HEARTBEAT_TIMEOUT = timedelta(seconds=15)
# Interval of the search for lost jobs; NOTIFY wakes the worker at once for a new job.
DEQUEUE_TIMEOUT = timedelta(seconds=2)
DRAIN_TIMEOUT_S = 20.0


async def run_worker(
    db: Database,
    registry: JobRegistry,
    stop: asyncio.Event,
    *,
    heartbeat_timeout: timedelta = HEARTBEAT_TIMEOUT,
    dequeue_timeout: timedelta = DEQUEUE_TIMEOUT,
) -> None:
    """Runs jobs and schedules until ``stop`` is set; running jobs then have 20 s to finish.

    Waits with growing pauses for a lost database.
    """
    schedules = asyncio.create_task(run_schedules(db, registry.schedules))
    pause_s = 1.0
    try:
        while not stop.is_set():
            try:
                await _run_until(db, registry, stop, heartbeat_timeout, dequeue_timeout)
                pause_s = 1.0
            except Exception as error:  # noqa: BLE001 - the job loop is one of the four places
                log.warning("job_loop_failed", error=f"{type(error).__name__}: {error}", retry_in_s=pause_s)
                await _wait(stop, pause_s)
                pause_s = min(pause_s * 2, 30.0)
    finally:
        schedules.cancel()
        await asyncio.gather(schedules, return_exceptions=True)


async def run_until_empty(db: Database, registry: JobRegistry) -> None:
    """Runs everything that waits, including retries, then returns; for tests and commands."""
    async with asyncpg.create_pool(_asyncpg_url(db.url), min_size=2, max_size=4) as pool:
        manager = _build_queue_manager(pool, registry)
        await manager.run(mode=QueueExecutionMode.drain, dequeue_timeout=timedelta(seconds=0.1), batch_size=BATCH_SIZE)


async def _run_until(
    db: Database, registry: JobRegistry, stop: asyncio.Event, heartbeat: timedelta, dequeue: timedelta
) -> None:
    async with asyncpg.create_pool(_asyncpg_url(db.url), min_size=2, max_size=4) as pool:
        manager = _build_queue_manager(pool, registry)
        loop = asyncio.create_task(
            manager.run(
                dequeue_timeout=dequeue,
                heartbeat_timeout=heartbeat,
                batch_size=BATCH_SIZE,
                max_concurrent_tasks=2 * BATCH_SIZE,
                shutdown_on_listener_failure=True,
            )
        )
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({loop, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not loop.done():
                manager.shutdown.set()
                await asyncio.wait({loop}, timeout=DRAIN_TIMEOUT_S)
            if loop.done():
                await loop
        finally:
            stopping.cancel()
            loop.cancel()
            await asyncio.gather(loop, stopping, return_exceptions=True)


class ListeningDriver(AsyncpgPoolDriver):
    """Notifies only once it listens.

    PgQueuer starts its first health probe before it sends LISTEN; on another connection of the pool the probe could
    overtake it and get lost, and ten seconds later the loop was taken for deaf.
    """

    def __init__(self, pool: asyncpg.Pool) -> None:
        super().__init__(pool)
        self._listens = asyncio.Event()

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        await super().add_listener(channel, callback)
        self._listens.set()

    async def notify(self, channel: str, payload: str) -> None:
        await self._listens.wait()
        await super().notify(channel, payload)


def _build_queue_manager(pool: asyncpg.Pool, registry: JobRegistry) -> QueueManager:
    manager = QueueManager(Queries(ListeningDriver(pool)))
    scheduled = {schedule.name for schedule in registry.schedules}
    for name, handler in registry.handlers.items():
        is_scheduled = name in scheduled
        manager.entrypoint(
            name,
            accepts_context=False,
            # A schedule's next turn is its retry; any other failed job stays visible.
            on_failure="delete" if is_scheduled else "hold",
            executor_factory=EntrypointExecutor if is_scheduled else _retrying_executor,
        )(_make_entrypoint(name, handler))
    return manager


def _retrying_executor(parameters: EntrypointExecutorParameters) -> AbstractEntrypointExecutor:
    return DatabaseRetryEntrypointExecutor(
        parameters, max_attempts=MAX_RETRIES, initial_delay=MIN_RETRY_DELAY, max_delay=MAX_RETRY_DELAY
    )


def _make_entrypoint(name: str, handler: JobHandler) -> Callable[[Job], Awaitable[None]]:
    async def run_job(job: Job) -> None:
        with structlog.contextvars.bound_contextvars(job=name, job_id=job.id):
            await handler(json.loads(job.payload or b"{}"))

    return run_job


def _asyncpg_url(url: str) -> str:
    return url.replace("postgresql+asyncpg://", "postgresql://", 1)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
