"""The job loop: PgQueuer takes jobs, our handlers run them, and other workers take over a dead worker's jobs."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import structlog
from pgqueuer.adapters.drivers.asyncpg import AsyncpgPoolDriver
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.executors import EntrypointExecutor
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job
from pgqueuer.domain.types import QueueExecutionMode
from pgqueuer.ports.driver import NotifyCallback

from offhook.jobs.executor import make_retrying_executor, refuse_deadly_job
from offhook.jobs.queue import enqueue
from offhook.jobs.registry import JobRegistry
from offhook.jobs.scheduler import run_schedules
from offhook.jobs.shares import delay_after
from offhook.kit.database.connecting import make_connector
from offhook.kit.database.database import Database
from offhook.kit.database.tcp_keepalive import keep_socket_alive

log = structlog.get_logger(__name__)

BATCH_SIZE = 10
# More than the shares of a lane's jobs together, so that a job without a place is put off at once.
MAX_CONCURRENT_PER_LANE = 3 * BATCH_SIZE
# A worker that is silent for this long loses its jobs to the others.
HEARTBEAT_TIMEOUT = timedelta(seconds=15)
# Interval of the search for lost jobs; NOTIFY wakes the worker at once for a new job.
DEQUEUE_TIMEOUT = timedelta(seconds=2)
DRAIN_TIMEOUT_S = 20.0
POOL_CLOSE_TIMEOUT_S = 5.0
# The queue's own statements are short.
STATEMENT_TIMEOUT_S = 10.0
# In a payload: how often the job found no place.
PUT_OFF = "put_off"


async def run_worker(
    db: Database,
    registry: JobRegistry,
    stop: asyncio.Event,
    *,
    heartbeat_timeout: timedelta = HEARTBEAT_TIMEOUT,
    dequeue_timeout: timedelta = DEQUEUE_TIMEOUT,
    drain_timeout_s: float = DRAIN_TIMEOUT_S,
) -> None:
    """Runs jobs and schedules until ``stop`` is set; running jobs then have ``drain_timeout_s`` to finish, and are given back
    after that: another worker runs them.

    Waits with growing pauses for a lost database.
    """
    schedules = asyncio.create_task(run_schedules(db, registry.schedules))
    pause_s = 1.0
    try:
        while not stop.is_set():
            try:
                await _run_until(db, registry, stop, heartbeat_timeout, dequeue_timeout, drain_timeout_s)
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
    async with open_job_pool(db, max_size=4) as pool:
        manager = _build_queue_manager(ListeningDriver(pool), db, registry, registry.handlers)
        await manager.run(mode=QueueExecutionMode.drain, dequeue_timeout=timedelta(seconds=0.1), batch_size=BATCH_SIZE)


async def _run_until(
    db: Database,
    registry: JobRegistry,
    stop: asyncio.Event,
    heartbeat: timedelta,
    dequeue: timedelta,
    drain_timeout_s: float,
) -> None:
    lanes = sorted({registry.lanes[name] for name in registry.handlers})
    # a connection that listens for all lanes, and two for their statements
    async with open_job_pool(db, max_size=3) as pool:
        driver = ListeningDriver(pool, managers=len(lanes))
        managers = [
            _build_queue_manager(
                driver, db, registry, [name for name in registry.handlers if registry.lanes[name] == lane]
            )
            for lane in lanes
        ]
        loops = [
            asyncio.create_task(
                manager.run(
                    dequeue_timeout=dequeue,
                    heartbeat_timeout=heartbeat,
                    batch_size=BATCH_SIZE,
                    max_concurrent_tasks=MAX_CONCURRENT_PER_LANE,
                    shutdown_on_listener_failure=True,
                )
            )
            for manager in managers
        ]
        stopping = asyncio.create_task(stop.wait())
        try:
            # a lane that ends takes the others with it: all of them begin anew
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for manager in managers:
                manager.shutdown.set()
            await asyncio.wait(loops, timeout=drain_timeout_s)
            for loop in loops:
                if loop.done():
                    await loop
        finally:
            for task in (stopping, *loops):
                task.cancel()
            await asyncio.gather(stopping, *loops, return_exceptions=True)


class ListeningDriver(AsyncpgPoolDriver):
    """Listens on one connection for several queue managers, and notifies only once all of them listen.

    PgQueuer starts its first health probe before it sends LISTEN; on another connection of the pool the probe could
    overtake it and get lost, and ten seconds later the loop was taken for deaf.
    """

    def __init__(self, pool: asyncpg.Pool, *, managers: int = 1) -> None:
        super().__init__(pool)
        self._missing = managers
        self._listens = asyncio.Event()

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        await super().add_listener(channel, callback)
        self._missing -= 1
        if self._missing <= 0:
            self._listens.set()

    async def notify(self, channel: str, payload: str) -> None:
        await self._listens.wait()
        await super().notify(channel, payload)


def _build_queue_manager(
    driver: ListeningDriver, db: Database, registry: JobRegistry, names: Iterable[str]
) -> QueueManager:
    manager = QueueManager(Queries(driver))
    scheduled = {schedule.name for schedule in registry.schedules}
    for name in names:
        is_scheduled = name in scheduled
        manager.entrypoint(
            name,
            accepts_context=False,
            # A schedule's next turn is its retry; any other failed job stays visible.
            on_failure="delete" if is_scheduled else "hold",
            executor_factory=EntrypointExecutor if is_scheduled else make_retrying_executor,
        )(_make_entrypoint(name, db, registry))
    return manager


def _make_entrypoint(name: str, db: Database, registry: JobRegistry) -> Callable[[Job], Awaitable[None]]:
    handler, shares = registry.handlers[name], registry.shares.get(name)

    async def run_job(job: Job) -> None:
        payload = json.loads(job.payload or b"{}")
        tries = payload.pop(PUT_OFF, 0)
        with structlog.contextvars.bound_contextvars(job=name, job_id=job.id):
            await refuse_deadly_job(db, job, HEARTBEAT_TIMEOUT)
            organization_id = payload.get("organization_id")
            if shares is None or not isinstance(organization_id, int):
                await handler(payload)
                return
            if not shares.begin(organization_id):
                async with db.transaction() as session:
                    await enqueue(session, name, {**payload, PUT_OFF: tries + 1}, delay_s=delay_after(tries))
                return
            try:
                await handler(payload)
            finally:
                shares.end(organization_id)

    return run_job


@asynccontextmanager
async def open_job_pool(
    db: Database, *, max_size: int, close_timeout_s: float = POOL_CLOSE_TIMEOUT_S
) -> AsyncIterator[asyncpg.Pool]:
    """A pool that closes within ``close_timeout_s``, whatever state its connections are in.

    A connection that the server ends at the moment it changes hands is never given back, and asyncpg's ``close`` waits
    for it without a limit: the worker stood still until it was restarted.
    """
    pool = await asyncpg.create_pool(
        connect=make_connector(db.url),
        min_size=2,
        max_size=max_size,
        command_timeout=STATEMENT_TIMEOUT_S,
        init=_prepare_connection,
    )
    try:
        yield pool
    finally:
        try:
            await asyncio.wait_for(pool.close(), close_timeout_s)
        except (TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning("job_pool_terminated", error=f"{type(error).__name__}: {error}")
            pool.terminate()


async def _prepare_connection(connection: asyncpg.Connection) -> None:
    keep_socket_alive(connection)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
