"""Migrates a database to the schema of this code: forward only, one process at a time, logging each step.

Migrations are files ``NNNN_name.py`` whose revision is ``NNNN``, in one sequence; the first one is the initial schema,
and a database that is older than it is refused. Alembic runs them; checking whether there is anything to run does not
import it, so that a start with nothing to do costs one query.

A migration that older code can live with says so: ``oldest_code`` is the first revision whose code works with the
schema that it leaves. The database keeps it as a comment on Alembic's table, so that older code, which does not have
the migration, reads it there. Processes of both versions then run side by side, and the older one can come back.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from offhook.kit.database.database import Database

_LOCK = 0x0FF4AD0  # an arbitrary constant of our own
# A statement that waits for a table's lock makes everybody after it wait as well: it gives up and is tried again.
LOCK_TIMEOUT_S = 3.0
LOCK_RETRY_S = 2.0
# How often a process asks whether another one has finished migrating.
LOCK_LOOK_S = 0.2
MAX_LOCK_ATTEMPTS = 60
# The lock was not free in time, or PostgreSQL ended this side of a deadlock; either way nothing was changed.
_WITHOUT_LOCK = frozenset({"55P03", "40P01"})
_PACKAGED = Path(__file__).parents[2] / "_migrations"
_CHECKOUT = Path(__file__).parents[4] / "migrations"
# PgQueuer's tables, which are installed as SQL, and partitions.
_WITHOUT_MODELS = ("pgqueuer", "run_events_", "run_values_")
_FILE = re.compile(r"(\d{4})_(\w+)\.py")
_NOTE = re.compile(r"(?P<revision>\d{4}) serves code of (?P<oldest_code>\d{4}) and later")


class MigrationError(Exception):
    """The database cannot be migrated to this code's schema; one sentence says why."""


def migrations_folder() -> Path:
    """Returns the folder of migrations: inside an installed wheel, or at the top of a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def list_revisions(folder: Path | None = None) -> dict[str, str]:
    """Returns every revision in order, with its name; of ``folder``, or of this code."""
    matches = (_FILE.fullmatch(path.name) for path in ((folder or migrations_folder()) / "versions").iterdir())
    return dict(sorted((found[1], found[2].replace("_", " ")) for found in matches if found))


def head_revision(folder: Path | None = None) -> str:
    """Returns the revision of this code, or of a folder of migrations."""
    return next(reversed(list_revisions(folder)))


async def current_revision(db: Database) -> str | None:
    """Returns the database's revision; None for an empty database."""
    try:
        async with db.transaction() as session:
            return (await session.execute(text("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
    except ProgrammingError:
        return None


async def is_current(db: Database) -> bool:
    """Returns whether this code works with the database's schema: its own, or a newer one that allows it."""
    try:
        return not await _missing_revisions(db)
    except MigrationError:
        return False


async def require_current(db: Database, folder: Path | None = None) -> None:
    """Raises :class:`MigrationError` with instructions when this code cannot work with the database's schema."""
    if await _missing_revisions(db, folder):
        at, needed = await current_revision(db), head_revision(folder)
        where = "has no schema yet" if at is None else f"is at migration {at}, this version needs {needed}"
        raise MigrationError(f"The database {where}: run `offhook migrate`.")


async def upgrade_database(db: Database, say: Callable[[str], None], folder: Path | None = None) -> list[str]:
    """Applies missing migrations, each in its own transaction, and returns the applied revisions.

    A second process waits for the first and then has nothing to do. A migration waits for the lock of a table in short
    attempts, between which the requests of a running installation go on. Raises :class:`MigrationError` when the
    database is too new or too old for this code, or when a lock was never free.
    """
    async with db.without_time_limit() as unlimited, _alone(unlimited):
        missing = await _missing_revisions(db, folder)
        for revision, name in missing:
            say(f"Applying migration {revision}: {name}.")
            await _apply_between_requests(unlimited, folder or migrations_folder(), revision, say)
        return [revision for revision, _ in missing]


@asynccontextmanager
async def _alone(db: Database) -> AsyncIterator[None]:
    # Outside of a transaction, and without a statement that waits: an index that is built beside requests waits for every
    # open one of these, so also for ours, while we would wait for who builds it.
    async with db.engine.connect() as connection:
        lock = await connection.execution_options(isolation_level="AUTOCOMMIT")
        while not await lock.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}):  # noqa: ASYNC110
            await asyncio.sleep(LOCK_LOOK_S)
        try:
            yield
        finally:
            await lock.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


async def _missing_revisions(db: Database, folder: Path | None = None) -> list[tuple[str, str]]:
    at, known = await current_revision(db), list_revisions(folder)
    if at is not None and at not in known:
        first, head = next(iter(known)), head_revision(folder)
        if at < first:
            raise MigrationError(
                f"The database is at migration {at}, older than this version of Offhook can migrate: first run "
                f"`offhook migrate` of a version that has both {at} and {first}, or start with an empty database."
            )
        if head >= await _oldest_code(db, at):
            return []
        raise MigrationError(
            f"The database is at migration {at}, this version of Offhook only knows up to {head}: "
            "start the newer version, or restore a backup from before it."
        )
    return [(revision, name) for revision, name in known.items() if at is None or revision > at]


async def _oldest_code(db: Database, at: str) -> str:
    async with db.transaction() as session:
        note = await session.scalar(text("SELECT obj_description('alembic_version'::regclass, 'pg_class')"))
    found = _NOTE.fullmatch(note or "")
    return found["oldest_code"] if found is not None and found["revision"] == at else at


async def _apply_between_requests(db: Database, folder: Path, revision: str, say: Callable[[str], None]) -> None:
    for attempt in range(1, MAX_LOCK_ATTEMPTS + 1):
        try:
            async with db.engine.connect() as connection:
                await connection.run_sync(_apply_revision, folder, revision)
            return
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in _WITHOUT_LOCK:
                raise
        if attempt == 1:
            say(f"Migration {revision} waits for a table that is in use.")
        await asyncio.sleep(LOCK_RETRY_S)
    raise MigrationError(
        f"Migration {revision} did not get the lock of a table in {MAX_LOCK_ATTEMPTS} attempts: end long transactions "
        "(pg_stat_activity shows them), then run `offhook migrate` again. The database was left as it was before."
    )


def _apply_revision(connection: Connection, folder: Path, revision: str) -> None:
    import alembic.command  # noqa: PLC0415 - 8 MB and 0.3 s that only a start with work to do needs
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = _alembic_config(connection, None, folder)
    module = ScriptDirectory.from_config(config).get_revision(revision).module
    config.attributes["note"] = f"{revision} serves code of {getattr(module, 'oldest_code', revision)} and later"
    config.attributes["lock_timeout_s"] = LOCK_TIMEOUT_S
    alembic.command.upgrade(config, revision)


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
    config = _alembic_config(connection, metadata, migrations_folder())
    script = alembic.command.revision(config, message, autogenerate=True, rev_id=number)
    if script is None or isinstance(script, list):
        raise MigrationError("Alembic wrote no migration.")
    return Path(script.path)


def _alembic_config(connection: Connection, metadata: MetaData | None, folder: Path) -> Any:
    import alembic.config  # noqa: PLC0415

    config = alembic.config.Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["metadata"] = metadata
    return config


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return not (kind == "table" and name is not None and name.startswith(_WITHOUT_MODELS))
