"""Writes the next migration from the difference between the tables of the code and all migrations so far.

    .venv/bin/python scripts/new_migration.py "what it does"

Read what it wrote before committing it: Alembic does not see renames, and it knows nothing of data.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from offhook.bootstrap import METADATA
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres


async def write(url: str, message: str) -> Path | None:
    database = Database(url)
    try:
        await migrations.upgrade_database(database, lambda _: None)
        async with database.engine.connect() as connection:
            if not await connection.run_sync(migrations.schema_differences, METADATA):
                return None
            return await connection.run_sync(migrations.write_migration, METADATA, message)
    finally:
        await database.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, usage="%(prog)s MESSAGE", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("message", metavar="MESSAGE", help="what the migration does, which becomes its name")
    message = parser.parse_args().message.strip()
    if not message:
        parser.error("Say what the migration does.")
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder), durable=False)
        try:
            path = asyncio.run(write(server.start(), message))
        finally:
            server.stop()
    if path is None:
        print("The tables and the migrations agree: nothing to write.")
        return
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.strip().startswith("# ###")))
    ruff = Path(sys.executable).with_name("ruff")
    subprocess.run([ruff, "check", "--fix", "--quiet", path], check=False)
    subprocess.run([ruff, "format", "--quiet", path], check=True)
    print(f"Wrote {path}: read it.")


if __name__ == "__main__":
    main()
