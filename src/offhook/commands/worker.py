"""``offhook worker``: an additional process for background jobs, on this machine or another."""

import asyncio

import typer
import uvloop

from offhook import worker as process
from offhook.bootstrap import build_root
from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import any_database, prepare_schema
from offhook.kit.crypto import Keyring
from offhook.kit.database.database_clock import DatabaseClock
from offhook.kit.processes.descriptors import raise_descriptor_limit
from offhook.kit.tasks import TaskTracker
from offhook.nodes.installation import check_installation
from offhook.nodes.node_beat import NodeBeat, NodeDescription
from offhook.runs import ClusterRoom
from offhook.settings import Settings


def register(app: typer.Typer) -> None:
    @app.command()
    def worker() -> None:
        """Run background jobs. `serve` starts one; start more on any machine that reaches the database."""
        with report_errors():
            settings = load_settings()
            raise_descriptor_limit()
            with any_database(settings) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_run_worker(settings, url))


async def _run_worker(settings: Settings, url: str) -> None:
    clock = DatabaseClock()
    root = build_root(settings, url, clock=clock)
    beside = TaskTracker()
    try:
        await prepare_schema(settings, root.db)
        await clock.synchronize(root.db)
        beside.start(clock.stay_synchronized(root.db), name="clock")
        await check_installation(root.db, root.get(Keyring), clock, typer.echo)
        beat = NodeBeat(root, NodeDescription("worker"), on_beat=root.get(ClusterRoom).read)
        beside.start(beat.run(), name="node")
        await process.run_job_process(root)
    finally:
        await beside.close()
        await root.db.dispose()
