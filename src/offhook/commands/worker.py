"""``offhook worker``: an additional process for background jobs, on this machine or another."""

import asyncio
from functools import partial

import structlog
import typer
import uvloop
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook import worker as process
from offhook.bootstrap import build_root
from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import any_database, open_database, prepare_schema
from offhook.kit.crypto import Keyring
from offhook.kit.database.database_clock import DatabaseClock
from offhook.kit.http.metrics_server import serve_metrics
from offhook.kit.http.server import PortInUse
from offhook.kit.processes.descriptors import raise_descriptor_limit
from offhook.kit.tasks import TaskTracker
from offhook.nodes.installation import check_installation
from offhook.nodes.node_beat import NodeBeat, NodeDescription
from offhook.runs import ClusterRoom
from offhook.settings import Settings

log = structlog.get_logger(__name__)


def register(app: typer.Typer) -> None:
    @app.command()
    def worker() -> None:
        """Run background jobs. `serve` starts one worker; start more on any machine that can reach the database."""
        with report_errors():
            run_worker(load_settings())


def run_worker(settings: Settings) -> None:
    """Runs jobs until the process is told to end."""
    raise_descriptor_limit()
    with any_database(settings) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run_worker(settings, url))


async def _run_worker(settings: Settings, url: str) -> None:
    clock = DatabaseClock()
    root = build_root(settings, open_database(settings, url), clock=clock)
    structlog.contextvars.bind_contextvars(node=root.node_id)
    beside = TaskTracker()
    try:
        await prepare_schema(settings, root.db)
        await clock.synchronize(root.db)
        beside.start(clock.stay_synchronized(root.db), name="clock")
        await check_installation(root.db, root.get(Keyring), root.storage, settings.storage_url, clock, typer.echo)
        beat = NodeBeat(root, NodeDescription("worker"), on_beat=partial(_look_around, root.get(ClusterRoom)))
        beside.start(beat.run(), name="node")
        if settings.worker_metrics_port is not None:
            beside.start(_serve_metrics(settings, settings.worker_metrics_port), name="metrics")
        await process.run_job_process(root)
    finally:
        await beside.close()
        await root.db.dispose()


async def _look_around(room: ClusterRoom, session: AsyncSession) -> None:
    """Reads with a beat what this process has to know of the others, and what monitors want to know of the queue."""
    await room.read(session)
    await jobs.observe_backlog(session)


async def _serve_metrics(settings: Settings, port: int) -> None:
    """A worker without its page works on: another one on this machine may have the port."""
    try:
        await serve_metrics(settings, port, lambda taken: log.info("metrics_served", host=settings.host, port=taken))
    except PortInUse as error:
        log.warning("metrics_not_served", reason=str(error))
