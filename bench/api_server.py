"""The API server under load: ``offhook serve`` without jobs, on a database that the bench has filled.

Prints one JSON line {"url", "database_url", "key", "superuser", "organization_id"} when it is ready; runs until its
standard input closes. With a third argument it appends every SELECT and its parameters to that file (pickled).
"""

import json
import os
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import uvloop
from sqlalchemy import event

from bench.api_seed import seed
from offhook.api import run_api
from offhook.bootstrap import build_root
from offhook.kit import logging
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.http.server import bind_socket
from offhook.orgs import service as orgs
from offhook.settings import Settings


async def main(settings: Settings, url: str, others: int, statements: Path | None) -> None:
    root = build_root(settings, url)
    await migrations.upgrade_database(root.db, lambda line: None)
    async with root.db.transaction() as session:
        first = await orgs.first_start(session, settings)
        key = await orgs.create_key(session, organization_id=first.organization_id, name="bench", role="admin")
        owner = await orgs.grant_superuser(session, first.owner_email)
        token = await orgs.start_session(
            session, organization_id=first.organization_id, user_id=owner.id, now=root.clock.now()
        )
    seeded = await seed(url, first.organization_id, others=others)
    if statements is not None:
        keep_statements(root.db, statements)
    with bind_socket(settings.host, 0) as bound:
        facts = {
            "url": f"http://127.0.0.1:{bound.getsockname()[1]}",
            "pid": os.getpid(),
            "database_url": url,
            "key": key.key,
            "superuser": token,
            **seeded,
        }
        await run_api(root, bound, lambda: print(json.dumps(facts), flush=True))


def keep_statements(database: Database, path: Path) -> None:
    """Appends database statements to a file, for EXPLAIN."""

    @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def keep(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            with path.open("ab") as file:
                pickle.dump((statement, tuple(parameters or ())), file)


def stop_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), 15)


if __name__ == "__main__":
    logging.configure_logging("warning")
    folder, other_rows, *rest = sys.argv[1:]
    threading.Thread(target=stop_with_parent, daemon=True).start()
    server = EmbeddedPostgres(Path(folder), durable=False)
    try:
        uvloop.run(
            main(Settings.load(data_dir=Path(folder)), server.start(), int(other_rows), Path(rest[0]) if rest else None)
        )
    finally:
        server.stop()
