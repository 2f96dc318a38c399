"""What every test may ask for: a real PostgreSQL, a fresh database, the parts of a process, an HTTP client."""

import asyncio
import gc
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import cache
from pathlib import Path

import hypothesis
import pytest
import structlog
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.root import Root
from offhook.settings import Settings
from tests.applications import lend_application
from tests.databases import IN_MEMORY, DatabasePool, create_database, drop_database, has_memory
from tests.fakes.clock import ShiftedClock
from tests.once import is_shared, make_once, shared_folder

pytest_plugins = ["tests.fixtures_orgs"]

_PREFIX = "offhook-tests-"


def pytest_configure() -> None:
    # How long an example takes is the machine's business: other processes run beside the tests.
    hypothesis.settings.register_profile("no deadline", deadline=None)
    hypothesis.settings.load_profile("no deadline")
    # As in production: structlog's own default shows the values of variables, which takes half a second an exception.
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
    )


def pytest_collection_finish() -> None:
    # What is there now stays: without it a quarter of the CPU goes into looking through it again and again.
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 10, 20)


def pytest_unconfigure() -> None:
    # What this process made, and what its test processes shared.
    for folder in IN_MEMORY.glob(f"{_PREFIX}{os.getpid()}-*"):
        shutil.rmtree(folder, ignore_errors=True)


async def _make_template(url: str) -> None:
    database = Database(url)
    await migrations.upgrade_database(database, lambda _: None)
    await database.dispose()


@pytest.fixture(scope="session")
def pg_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One embedded server a test process; its database ``offhook`` holds the schema and no rows. Do not write to it."""
    with _quick_folder(tmp_path_factory) as folder:
        if is_shared() and has_memory():
            _copy_shared_cluster(folder)
        server = EmbeddedPostgres(folder, durable=False)
        url = server.start()
        asyncio.run(_make_template(url))
        yield url
        server.stop()


@contextmanager
def _quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In memory where there is room: a database is made and dropped for nearly every test."""
    if not has_memory():
        yield tmp_path_factory.mktemp("pg")
        return
    for left in IN_MEMORY.glob(f"{_PREFIX}*"):
        # of a run that was killed
        if not Path(f"/proc/{left.name.split('-')[2]}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=IN_MEMORY))
    try:
        yield folder / "pg"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_shared_cluster(folder: Path) -> None:
    """The first process of a run makes a cluster with the schema: 1.5 s of CPU. Copying it takes 0.2.

    Its folder is named for the process that began the run, which deletes it; else the next run does.
    """
    shared = IN_MEMORY / f"{_PREFIX}{os.getppid()}-{os.environ['PYTEST_XDIST_TESTRUNUID']}"

    def make() -> None:
        # A process that was killed here left what the next one goes on with.
        server = EmbeddedPostgres(shared, durable=False)
        asyncio.run(_make_template(server.start()))
        server.stop()

    make_once(shared, make)
    folder.mkdir()
    # Not what belongs to a server: the address of its socket.
    subprocess.run(["cp", "-a", shared / "postgres", folder / "postgres"], check=True)


@pytest.fixture(scope="session")
def database_pool(pg_url: str) -> Iterator[DatabasePool]:
    pool = DatabasePool(pg_url)
    yield pool
    pool.close()


@pytest.fixture
def database_url(database_pool: DatabasePool) -> Iterator[str]:
    """A database with the schema and no rows, this test's own until it ends."""
    with database_pool.lent() as url:
        yield url


@pytest.fixture
def database(database_pool: DatabasePool, database_url: str) -> Database:
    """``database_url``, by an engine that keeps what the tests before compiled."""
    return Database(database_url, engine=database_pool.engine_of(database_url))


@pytest.fixture
async def empty_database(pg_url: str) -> AsyncIterator[Database]:
    """A database without a schema."""
    name = f"empty_{uuid.uuid4().hex}"
    database = Database(await create_database(pg_url, name, template="template0"))
    yield database
    await database.dispose()
    await drop_database(pg_url, name)


@cache
def _read_settings() -> Settings:
    # Emulated carriers call as if through a reverse proxy on this machine.
    return Settings(public_url="http://testserver", trusted_proxies="127.0.0.1")


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the offline embedding model is kept, for all test processes: preparing it takes a second of CPU."""
    folder = shared_folder(tmp_path_factory) / "models"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def settings(tmp_path: Path, models_folder: Path) -> Settings:
    """Settings with a data folder of this test's own; it shares the prepared embedding model with others."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(models_folder)
    return _read_settings().model_copy(update={"data_dir": data})


@pytest.fixture
def shifted_clock() -> ShiftedClock:
    """The clock of ``root``, where a test wants to be later."""
    return ShiftedClock()


@pytest.fixture
async def root(settings: Settings, database: Database, shifted_clock: ShiftedClock) -> AsyncIterator[Root]:
    built = build_root(settings, database, clock=shifted_clock)
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
def app(root: Root) -> Iterator[FastAPI]:
    with lend_application(root) as app:
        yield app


def client_at(app: FastAPI, address: str = "127.0.0.1") -> AsyncClient:
    """An anonymous client that calls from ``address``."""
    # Answers must leave by the error handlers, as they do in production, not as exceptions in the test.
    transport = ASGITransport(app=app, raise_app_exceptions=False, client=(address, 40000))
    return AsyncClient(transport=transport, base_url="http://testserver/api/v1")


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[AsyncClient]:
    """An anonymous client of the API; paths are relative to ``/api/v1``."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        yield await stack.enter_async_context(client_at(app))
