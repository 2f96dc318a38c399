"""The server for `offhook call`: the one that runs on this data folder, or one started for the call."""

import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import IO, Final

from offhook.commands.console import CommandError
from offhook.kit.database.database import Database
from offhook.kit.files.data_folder import DataFolder, ServerInfo
from offhook.kit.processes.child_process import die_with_parent
from offhook.orgs import service as orgs
from offhook.settings import Settings

START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 25.0


@contextmanager
def any_server(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yields ``(url, database url)`` of a running server. One that is started here listens on loopback and ends with
    us.
    """
    folder = DataFolder(settings.data_dir)
    folder.prepare()
    running = folder.running_server()
    if running is not None and running.url is not None:
        # A server announces itself before its database is there.
        until = time.monotonic() + START_TIMEOUT_S
        while running.database_url is None and time.monotonic() < until:
            time.sleep(0.1)
            running = folder.running_server() or running
        yield _server_address(running)
        return
    # A file, not a pipe: without a reader, a full pipe would stop the server.
    with TemporaryFile() as log:
        process = _start_server(log)
        try:
            yield _server_address(_await_start(folder, process, log))
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start_server(log: IO[bytes]) -> "subprocess.Popen[bytes]":
    # A public address would send our own requests around the world; the log of a call's server is not displayed.
    environment = {name: value for name, value in os.environ.items() if name != "OFFHOOK_PUBLIC_URL"}
    return subprocess.Popen(
        [sys.executable, "-m", "offhook.cli", "serve", "--host", "127.0.0.1", "--port", "0", "--no-worker"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        # Ctrl-C is for the call: the server ends after it, in order
        start_new_session=True,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
    )


def _await_start(folder: DataFolder, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> ServerInfo:
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until:
        if process.poll() is not None:
            log.seek(0)
            log_lines = log.read().decode(errors="replace").strip().splitlines()
            reason = log_lines[-1] if log_lines else "no reason"
            raise CommandError(f"No server is running here, and one could not be started: {reason}")
        running = folder.running_server()
        if running is not None and running.pid == process.pid and running.database_url is not None:
            return running
        time.sleep(0.05)
    raise CommandError("No server was running here, and the one that was started did not become ready in time.")


def _server_address(info: ServerInfo) -> tuple[str, str]:
    if info.url is None or info.database_url is None:
        raise CommandError("The server on this data folder did not become ready in time.")
    return info.url, info.database_url


@asynccontextmanager
async def short_lived_key(database_url: str, organization: str) -> AsyncIterator[str]:
    """Yields an API key of role member for the length of the call; always archived afterwards."""
    database = Database(database_url, pool_size=1)
    try:
        async with database.transaction() as session:
            found = await orgs.find_organization(session, organization)
            key = await orgs.create_key(session, organization_id=found.id, name="offhook call", role="member")
            organization_id, key_id = found.id, key.record.id
        try:
            yield key.key
        finally:
            async with database.transaction() as session:
                await orgs.set_key_archived(session, organization_id, key_id, datetime.now(UTC))
    finally:
        await database.dispose()
