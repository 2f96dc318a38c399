"""``offhook serve``: the API and the voice loop, with a worker and the embedded database."""

import asyncio
import os
import sys
from contextlib import ExitStack
from socket import socket
from typing import Annotated, Final
from urllib.parse import urlsplit

import structlog
import typer
import uvloop

from offhook.api import run_api
from offhook.bootstrap import build_root
from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import OwnedDatabase, open_database, owned_database, prepare_schema
from offhook.commands.serve.forked_children import ForkedChildren, fork_children
from offhook.kit.crypto import Keyring
from offhook.kit.database.database_clock import DatabaseClock
from offhook.kit.files.data_folder import DataFolder, ServerInfo
from offhook.kit.http.connection_limits import possible_connections
from offhook.kit.http.server import listening_socket
from offhook.kit.processes.descriptors import raise_descriptor_limit
from offhook.kit.processes.forked_child import ForkedChild
from offhook.kit.processes.garbage import CollectionSchedule
from offhook.kit.processes.supervised_child import SupervisedProcess, run_once
from offhook.kit.tasks import TaskTracker
from offhook.models.providers.builtin.llm import load_rules
from offhook.nodes.installation import check_installation
from offhook.nodes.node_beat import NodeBeat
from offhook.nodes.server_description import describe_server
from offhook.orgs import service as orgs
from offhook.runs import LiveCallRegistry, RunServices
from offhook.settings import Settings
from offhook.voice.output.metronome import Metronome
from offhook.voice.turn_detector.onnx_detector import OnnxTurnDetector, installed_detector
from offhook.workflows.demo import ensure_demo

# Two starts at once: another command's first look at the lock must not stop a server.
LOCK_WAIT_S = 0.3
# Of the demo agents, in the order of their creation: order status, whose call is the shortest and uses a tool.
SAMPLE_DEMO: Final = 1
# The first page comes first.
SAMPLE_DELAY_S: Final = 3.0
# Where cores are short, calls go before documents, campaigns and reviews.
WORKER_NICENESS: Final = 5
log = structlog.get_logger(__name__)


def register(app: typer.Typer) -> None:
    @app.command()
    def serve(
        host: Annotated[str | None, typer.Option(help="Address to listen on. [OFFHOOK_HOST, 127.0.0.1]")] = None,
        port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one. [OFFHOOK_PORT, 8480]")] = None,
        no_worker: Annotated[bool, typer.Option("--no-worker", help="Do not start a job worker with the API.")] = False,
    ) -> None:
        """Start Offhook: API, voice and web pages in one process, with a job worker and the embedded database."""
        with report_errors():
            _run_server(load_settings(host=host, port=port), with_worker=not no_worker)


def _run_server(settings: Settings, *, with_worker: bool) -> None:
    with fork_children(with_worker=with_worker) as children:
        _run_with_database(settings, children, with_worker=with_worker)


def _run_with_database(settings: Settings, children: ForkedChildren, *, with_worker: bool) -> None:
    detector = installed_detector(settings)
    descriptors = raise_descriptor_limit()
    if (connections := possible_connections(settings, descriptors)) < settings.max_connections:
        log.warning("connections_limited", connections=connections, file_descriptors=descriptors)
    folder = DataFolder(settings.data_dir)
    with ExitStack() as stack:
        stack.enter_context(folder.hold_lock(wait_s=LOCK_WAIT_S))
        bound = stack.enter_context(listening_socket(settings.host, settings.port))
        settings = settings.model_copy(update={"port": bound.getsockname()[1]})
        base = base_url(settings)
        folder.announce(ServerInfo(os.getpid(), base, None))
        database = stack.enter_context(owned_database(settings))
        folder.announce(ServerInfo(os.getpid(), base, database.url))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            worker = _worker_beside(database.url, children.worker) if with_worker else None
            runner.run(_run_processes(settings, database, bound, worker, children.migrator, detector))


def _worker_beside(database_url: str, waiting: ForkedChild | None) -> SupervisedProcess:
    return SupervisedProcess(
        [sys.executable, "-m", "offhook.cli", "worker"],
        environment={"OFFHOOK_DATABASE_URL": database_url},
        niceness=WORKER_NICENESS,
        first=waiting,
    )


async def _run_processes(
    settings: Settings,
    database: OwnedDatabase,
    bound: socket,
    worker: SupervisedProcess | None,
    migrator: ForkedChild | None,
    detector: OnnxTurnDetector | None,
) -> None:
    clock = DatabaseClock()
    root = build_root(settings, open_database(settings, database.url), clock=clock)
    root.get(RunServices).agents.turn_detector = detector
    structlog.contextvars.bind_contextvars(node=root.node_id)
    beside = TaskTracker()
    try:
        await prepare_schema(settings, root.db, migrator)
        await clock.synchronize(root.db)
        beside.start(clock.stay_synchronized(root.db), name="clock")
        async with root.db.transaction() as session:
            first = await orgs.first_start(session, settings)
            demos = await ensure_demo(session, first.organization_id, created_by=None)
        await check_installation(root.db, root.get(Keyring), root.storage, settings.storage_url, clock, typer.echo)
        if worker is not None:
            beside.start(worker.run(), name="worker")
        beside.start(database.keep_running(), name="database")

        live = root.get(LiveCallRegistry)
        metronome = Metronome.of_running_loop()
        collections = CollectionSchedule(
            is_speaking=lambda: metronome.is_beating, is_idle=lambda: live.slots.taken == 0
        )
        beat = NodeBeat(root, describe_server(settings), count_live=lambda: live.slots.taken, on_beat=live.room.read)

        def welcome() -> None:
            beside.start(beat.run(), name="node")
            beside.start(collections.run(), name="garbage")
            beside.start(asyncio.to_thread(load_rules), name="offline_rules")
            _say_ready(settings, first.link_token)
            if demos and settings.sample_call:
                beside.start(_record_sample_call(demos[SAMPLE_DEMO], database.url), name="sample_call")

        await run_api(root, bound, welcome)
    finally:
        await beside.close()
        await root.db.dispose()


async def _record_sample_call(workflow_id: int, database_url: str) -> None:
    """Lets a demo agent talk with a simulated caller, in a process of its own. A failure is a line in the log."""
    await asyncio.sleep(SAMPLE_DELAY_S)
    command = [sys.executable, "-m", "offhook.cli", "sample", "--workflow", str(workflow_id)]
    code = await run_once(command, environment={"OFFHOOK_DATABASE_URL": database_url})
    if code != 0:
        log.warning("sample_call_failed", code=code)


def base_url(settings: Settings) -> str:
    """Returns the server's address for browsers on this machine, or on the network when ``public_url`` is set."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return urlsplit(f"http://{host}:{settings.port}").geturl()


def _say_ready(settings: Settings, token: str | None) -> None:
    base = base_url(settings)
    hint = "Sign in there, or run `offhook sign-in-link EMAIL`."
    if token is not None:
        hint = f"Sign in, once, within 24 hours: {base}/sign-in?token={token}"
    typer.echo(f"\nOffhook is ready at {base}\n{hint}\n")
    sys.stdout.flush()
