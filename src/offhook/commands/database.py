"""The database of a command: the configured one, the running server's, or the embedded one started here."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import structlog
import typer

from offhook.kit.database import migrations
from offhook.kit.database.address_parameters import DatabaseAddressError
from offhook.kit.database.addresses import read_database_address
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.database.prepared_cluster import prepared_cluster_path
from offhook.kit.files.data_folder import DataFolder, DataFolderError, ServerInfo
from offhook.kit.processes.forked_child import ForkedChild
from offhook.settings import Settings, SettingsError

log = structlog.get_logger(__name__)

WATCH_INTERVAL_S = 1.0
_POOLER = "OFFHOOK_DATABASE_POOLER_URL"
# Names the database for a forked child that migrates.
MIGRATED_URL = "OFFHOOK_MIGRATED_DATABASE_URL"


def configured_url(settings: Settings) -> str | None:
    """Returns ``OFFHOOK_DATABASE_URL`` for SQLAlchemy; None for the embedded database."""
    if settings.database_url is None:
        return None
    return _read_address(settings.database_url, "OFFHOOK_DATABASE_URL")


def open_database(settings: Settings, url: str) -> Database:
    """Returns the database of a process at ``url``, through ``OFFHOOK_DATABASE_POOLER_URL`` where there is one."""
    if settings.database_pooler_url is None:
        return Database(url)
    if settings.database_url is None:
        raise SettingsError("OFFHOOK_DATABASE_POOLER_URL needs OFFHOOK_DATABASE_URL, the address of PostgreSQL itself.")
    return Database(url, pooler_url=_read_address(settings.database_pooler_url, _POOLER, is_pooler=True))


def _read_address(address: str, setting: str, *, is_pooler: bool = False) -> str:
    try:
        return read_database_address(address, setting, is_pooler=is_pooler)
    except DatabaseAddressError as error:
        raise SettingsError(str(error)) from None


@dataclass(frozen=True, slots=True)
class OwnedDatabase:
    """A database; ``server`` is None when this process did not start it."""

    url: str
    server: EmbeddedPostgres | None = None

    async def keep_running(self) -> None:
        """Restarts the embedded server whenever it ends (out of memory, an operator's mistake), until canceled.

        Use it on the loop of the main thread: the server ends with the thread that started it.
        """
        while self.server is not None:
            await asyncio.sleep(WATCH_INTERVAL_S)
            if self.server.restart_if_dead():
                log.error("database_unreachable", log=str(self.server.log), action="started again")


async def prepare_schema(settings: Settings, db: Database, migrator: ForkedChild | None = None) -> None:
    """Brings the database to this version where a start may do that; else raises
    :class:`~offhook.kit.database.migrations.MigrationError` when this code cannot work with its schema.

    ``migrator`` waits to migrate what MIGRATED_URL names: what migrations take of memory goes with it. Raises
    :class:`SettingsError` when the pooler leads elsewhere, and typer.Exit when the migrator has said why it failed.
    """
    if await db.is_pooler_elsewhere():
        raise SettingsError("OFFHOOK_DATABASE_POOLER_URL and OFFHOOK_DATABASE_URL lead to different databases.")
    migrate = {"on": True, "off": False}.get(settings.migrate_at_start, settings.database_url is None)
    if not migrate:
        await migrations.require_current(db)
    elif migrator is None:
        await migrations.upgrade_database(db, typer.echo)
    elif not await migrations.is_current(db):
        migrator.release({MIGRATED_URL: db.url})
        if code := await asyncio.to_thread(migrator.wait):
            raise typer.Exit(code)
    if migrator is not None:
        migrator.close()


async def migrate_database(url: str) -> None:
    """Applies missing migrations on connections of its own, with a line of output for each."""
    db = Database(url)
    try:
        await migrations.upgrade_database(db, typer.echo)
    finally:
        await db.dispose()


@contextmanager
def owned_database(settings: Settings) -> Iterator[OwnedDatabase]:
    """Yields the database of a process that may start it; the caller owns the data folder."""
    configured = configured_url(settings)
    if configured is not None:
        yield OwnedDatabase(configured)
        return
    server = EmbeddedPostgres(settings.data_dir, prepared=prepared_cluster_path)
    try:
        yield OwnedDatabase(server.start(), server)
    finally:
        server.stop()


@contextmanager
def any_database(settings: Settings, *, wait_s: float = 15, creates: bool = True) -> Iterator[str]:
    """Yields the database for a command with or without a running server. Call it from the main thread.

    Raises :class:`DataFolderError` when the data folder has no database yet and the command ``creates`` none.
    """
    configured = configured_url(settings)
    if configured is not None:
        yield configured
        return
    folder = DataFolder(settings.data_dir)
    folder.prepare()
    deadline = time.monotonic() + wait_s
    with ExitStack() as stack:
        while True:
            running = folder.running_server()
            if running is not None and running.database_url:
                url = running.database_url
                break
            try:
                stack.enter_context(folder.hold_lock(wait_s=0.1))
            except DataFolderError:
                if time.monotonic() > deadline:
                    raise
                continue
            if not creates and not EmbeddedPostgres(settings.data_dir).cluster.exists():
                raise DataFolderError(
                    f"There is no installation in {folder.path}: start Offhook once (`offhook serve`), or set "
                    "OFFHOOK_DATA_DIR to the data folder of the server."
                )
            url = stack.enter_context(owned_database(settings)).url
            folder.announce(ServerInfo(os.getpid(), None, url))
            break
        yield url
