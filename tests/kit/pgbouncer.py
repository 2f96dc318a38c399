"""PgBouncer in transaction mode before a test's databases."""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg

from offhook.kit.database.addresses import to_driver_url

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
SERVER_CONNECTIONS = 3
_PORT = 6432
_START_TIMEOUT_S = 60
_SETTINGS = """
[databases]
* = host={server}

[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 500
logfile = {folder}/log
"""


@contextmanager
def pgbouncer(pg_url: str) -> Iterator[str]:
    """Yields the folder of its socket; ``pg_url`` is a server's on a socket."""
    # Not pytest's folders: only we may enter them, and PgBouncer does not run as root.
    folder = Path(tempfile.mkdtemp(prefix="offhook-pgbouncer-"))
    folder.chmod(0o777)
    server = parse_qs(urlsplit(pg_url).query)["host"][0]
    settings = folder / "settings.ini"
    settings.write_text(_SETTINGS.format(server=server, port=_PORT, folder=folder, connections=SERVER_CONNECTIONS))
    (folder / "users").write_text('"offhook" ""\n')
    # Nobody else gets to the server's socket.
    owner = Path(server, ".s.PGSQL.5432").stat()
    identity: dict[str, int] = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    asyncio.run(_let_in(pg_url, pwd.getpwuid(owner.st_uid).pw_name))
    process = subprocess.Popen([PROGRAM, "-q", settings], user=identity.get("user"), group=identity.get("group"))
    try:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not (folder / f".s.PGSQL.{_PORT}").exists():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield str(folder)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


async def _let_in(pg_url: str, user: str) -> None:
    """The embedded server lets in our own user only: PgBouncer's too, until it ends."""
    us = pwd.getpwuid(os.geteuid()).pw_name
    connection = await asyncpg.connect(to_driver_url(pg_url))
    path = await connection.fetchval("SELECT current_setting('ident_file')")
    users = " UNION ".join(f"SELECT 'us {name} offhook'" for name in (us, user))
    await connection.execute(f"COPY ({users}) TO '{path}'")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()


def pooled_url(database_url: str, folder: str) -> str:
    """The address of a database through the PgBouncer whose socket is in ``folder``."""
    return f"{database_url.split('?', maxsplit=1)[0]}?host={folder}&port={_PORT}"
