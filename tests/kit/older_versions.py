"""Databases as an older version leaves them, and the way from there to this one."""

import shutil
from pathlib import Path

import asyncpg

from offhook.kit.database import migrations
from offhook.kit.database.database import Database


def before(folder: Path, revision: str) -> Path:
    """The migrations of a version before this revision."""
    shutil.copytree(migrations.migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "versions").glob("*.py"):
        if path.name[:4] >= revision:
            path.unlink()
    return folder


async def connect(database: Database) -> "asyncpg.Connection[asyncpg.Record]":
    return await asyncpg.connect(database.url.replace("+asyncpg", ""))


async def upgrade(database: Database) -> None:
    await migrations.upgrade_database(database, lambda _: None)
