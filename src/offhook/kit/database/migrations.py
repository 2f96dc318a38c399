"""Migrates a database to the schema of this code: forward only, one process at a time, logging each step.

Migrations are files ``NNNN_name.py`` whose revision is ``NNNN``, in one sequence. Alembic runs them; checking
whether there is anything to run does not import it, so that a start with nothing to do costs one query.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import ProgrammingError

from offhook.kit.database.database import Database

_LOCK = 0x0FF4AD0  # an arbitrary constant of our own
_PACKAGED = Path(__file__).parents[2] / "_migrations"
_CHECKOUT = Path(__file__).parents[4] / "migrations"
_FILE = re.compile(r"(\d{4})_(\w+)\.py")


class MigrationError(Exception):
    """The database cannot be migrated to this code's schema; one sentence says why."""


def migrations_folder() -> Path:
    """Returns the folder of migrations: inside an installed wheel, or at the top of a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def list_revisions() -> dict[str, str]:
    """Returns every revision in order, with its name."""
    matches = (_FILE.fullmatch(path.name) for path in (migrations_folder() / "versions").iterdir())
    return dict(sorted((found[1], found[2].replace("_", " ")) for found in matches if found))


def head_revision() -> str:
    """Returns the revision of this code."""
    return next(reversed(list_revisions()))


async def current_revision(db: Database) -> str | None:
    """Returns the database's revision; None for an empty database."""
    try:
        async with db.transaction() as session:
            return (await session.execute(text("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
    except ProgrammingError:
        return None


async def is_current(db: Database) -> bool:
    """Returns whether the database has exactly this code's schema."""
    return await current_revision(db) == head_revision()


async def require_current(db: Database) -> None:
    """Raises :class:`MigrationError` with instructions when the schema is not this code's."""
    at = await current_revision(db)
    if _missing_revisions(at):
        where = "has no schema yet" if at is None else f"is at migration {at}, this version needs {head_revision()}"
        raise MigrationError(f"The database {where}: run `offhook migrate`, or start the server once.")


async def upgrade_database(db: Database, say: Callable[[str], None]) -> list[str]:
    """Applies missing migrations, each in its own transaction, and returns the applied revisions.

    A second process waits for the first and then has nothing to do. Raises :class:`MigrationError` when the
    database is newer than this code.
    """
    async with db.without_time_limit() as unlimited, unlimited.transaction() as lock:
        await lock.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        missing = _missing_revisions(await current_revision(db))
        for revision, name in missing:
            say(f"Applying migration {revision}: {name}.")
            async with unlimited.engine.connect() as connection:
                await connection.run_sync(_apply_revision, revision)
        return [revision for revision, _ in missing]


def _missing_revisions(at: str | None) -> list[tuple[str, str]]:
    known = list_revisions()
    if at is not None and at not in known:
        raise MigrationError(
            f"The database is at migration {at}, this version of Offhook only knows up to {head_revision()}: "
            "start the newer version, or restore a backup from before it."
        )
    return [(revision, name) for revision, name in known.items() if at is None or revision > at]


def _apply_revision(connection: Connection, revision: str) -> None:
    import alembic.command  # noqa: PLC0415 - 8 MB and 0.3 s that only a start with work to do needs

    alembic.command.upgrade(_alembic_config(connection, None), revision)


def schema_differences(connection: Connection, metadata: MetaData) -> list[Any]:
    """Returns what Alembic would change to make the database match ``metadata``; for tests."""
    import alembic.autogenerate  # noqa: PLC0415
    import alembic.migration  # noqa: PLC0415

    context = alembic.migration.MigrationContext.configure(
        connection, opts={"compare_type": True, "compare_server_default": True, "include_name": _is_ours}
    )
    changes = alembic.autogenerate.compare_metadata(context, metadata)
    return [part for change in changes for part in (change if isinstance(change, list) else [change])]


def write_migration(connection: Connection, metadata: MetaData, message: str) -> Path:
    """Writes the next migration from the difference between the database and ``metadata``; returns its path."""
    import alembic.command  # noqa: PLC0415

    number = f"{int(head_revision()) + 1:04d}" if list_revisions() else "0001"
    script = alembic.command.revision(_alembic_config(connection, metadata), message, autogenerate=True, rev_id=number)
    if script is None or isinstance(script, list):
        raise MigrationError("Alembic wrote no migration.")
    return Path(script.path)


def _alembic_config(connection: Connection, metadata: MetaData | None) -> Any:
    import alembic.config  # noqa: PLC0415

    config = alembic.config.Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["metadata"] = metadata
    return config


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return not (kind == "table" and name is not None and name.startswith("pgqueuer"))
