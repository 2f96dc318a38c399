"""Prepares the database that new data folders of this installation start with: run it once, where it is installed."""

import asyncio
import sys
import tempfile
from pathlib import Path

from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.database.postgres_program import PostgresError
from offhook.kit.database.prepared_cluster import is_intact, pack_cluster, prepared_cluster_path


def main() -> int:
    packed = prepared_cluster_path()
    if is_intact(packed):
        return 0
    try:
        prepare_database(packed)
    except (PostgresError, OSError) as error:
        sys.stderr.write(f"The database could not be prepared, first starts will take longer: {error}\n")
        return 1
    sys.stdout.write("Prepared the database for new data folders.\n")
    return 0


def prepare_database(packed: Path) -> None:
    """Packs a cluster with the schema of this code and no rows."""
    with tempfile.TemporaryDirectory(prefix="offhook-prepared-") as folder:
        server = EmbeddedPostgres(Path(folder), durable=False)
        try:
            asyncio.run(_migrate(server.start()))
        finally:
            server.stop()
        pack_cluster(server.cluster, packed)


async def _migrate(url: str) -> None:
    db = Database(url)
    try:
        await migrations.upgrade_database(db, lambda _: None)
    finally:
        await db.dispose()


if __name__ == "__main__":
    sys.exit(main())
