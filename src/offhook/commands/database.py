"""The database of a command: the one named in the settings, the running server's, or the embedded one started here."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from offhook.kit.data_folder import DataFolder, DataFolderError, ServerInfo
from offhook.kit.postgres import EmbeddedPostgres
from offhook.settings import Settings, SettingsError

_SCHEMES = ("postgresql+asyncpg://", "postgresql://", "postgres://")


def configured_url(settings: Settings) -> str | None:
    """``OFFHOOK_DATABASE_URL`` as SQLAlchemy wants it; None when the embedded database is used."""
    if settings.database_url is None:
        return None
    for scheme in _SCHEMES:
        if settings.database_url.startswith(scheme):
            return "postgresql+asyncpg://" + settings.database_url.removeprefix(scheme)
    raise SettingsError("OFFHOOK_DATABASE_URL must begin with postgresql://; Offhook works on PostgreSQL only.")


@contextmanager
def owned_database(settings: Settings) -> Iterator[str]:
    """The database of a process that may have started it; the caller owns the data folder."""
    configured = configured_url(settings)
    if configured is not None:
        yield configured
        return
    server = EmbeddedPostgres(settings.data_dir)
    try:
        yield server.start()
    finally:
        server.stop()


@contextmanager
def any_database(settings: Settings, *, wait_s: float = 15) -> Iterator[str]:
    """The database for a command beside a running server, or without one. Call it from the main thread."""
    configured = configured_url(settings)
    if configured is not None:
        yield configured
        return
    folder = DataFolder(settings.data_dir)
    folder.prepare()
    deadline = time.monotonic() + wait_s
    with ExitStack() as stack:
        while True:
            running = folder.running()
            if running is not None and running.database_url:
                url = running.database_url
                break
            try:
                stack.enter_context(folder.locked(wait_s=0.1))
            except DataFolderError:
                if time.monotonic() > deadline:
                    raise
                continue
            url = stack.enter_context(owned_database(settings))
            folder.announce(ServerInfo(os.getpid(), None, url))
            break
        yield url
