"""Databases of tests: made from the template, lent to one test at a time, emptied in between."""

import asyncio
import json
import shutil
import threading
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine

from offhook.kit.database.engine import create_engine

Result = TypeVar("Result")

IN_MEMORY = Path("/dev/shm")
TEMPLATE = "offhook"
_ROOM = 4 << 30
_TIMEOUT_S = 30

# Empties what has rows and says whether the next test finds a new database: the same objects, the same revision, and no large files.
_EMPTY_TABLES = """
CREATE FUNCTION pg_temp.empty_tables() RETURNS boolean LANGUAGE plpgsql
SET session_replication_role = replica AS $$
BEGIN
    PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    IF {objects} <> (SELECT {count_objects}) THEN RETURN false; END IF;
    IF '{revision}' <> (SELECT string_agg(version_num, ' ') FROM alembic_version) THEN RETURN false; END IF;
    {tables}
    {sequences}
    RETURN true;
END $$
"""
_EMPTY_TABLE = """
    IF EXISTS (SELECT FROM {name}) THEN
        IF pg_relation_size('{name}') > 1000000 THEN RETURN false; END IF;
        DELETE FROM {name};
    END IF;"""
_RESTART_SEQUENCE = "IF (SELECT is_called FROM {name}) THEN PERFORM setval('{name}', {start}, false); END IF;"
_COUNT_OBJECTS = (
    "(SELECT count(*) FROM pg_class WHERE relpersistence <> 't') + (SELECT count(*) FROM pg_constraint)"
    " + (SELECT count(*) FROM pg_trigger)"
)
_TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version' ORDER BY 1"""
_SEQUENCES = """
SELECT seqrelid::regclass::text, seqstart FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = 'public'::regnamespace ORDER BY 1"""
_WRITTEN_COLUMNS = """
SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"""
_WRITE_ROWS = """
DO $do$ BEGIN
    SET LOCAL session_replication_role = replica;
    IF {has_rows} THEN RAISE EXCEPTION 'it has rows'; END IF;
    {inserts}
END $do$"""


@cache
def has_memory() -> bool:
    """Whether databases fit into ``IN_MEMORY``."""
    return IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free >= _ROOM


async def create_database(pg_url: str, name: str, *, template: str) -> str:
    """A new database beside that of ``pg_url``; its address."""
    # Copying files takes a third of the work, but waits for two checkpoints: a third of a second on a disk that others use.
    strategy = "FILE_COPY" if has_memory() else "WAL_LOG"
    await _execute(pg_url, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY {strategy}")
    return _named(pg_url, name)


async def drop_database(pg_url: str, name: str) -> None:
    await _execute(pg_url, f"DROP DATABASE {name} WITH (FORCE)")


async def _execute(pg_url: str, statement: str) -> None:
    connection = await asyncpg.connect(_dsn(_named(pg_url, "postgres")))
    try:
        await connection.execute(statement)
    finally:
        # without waiting for the server's farewell: a quarter of the time that a database takes
        connection.terminate()


def _named(url: str, database: str) -> str:
    head, query = url.split("?")
    return f"{head.rpartition('/')[0]}/{database}?{query}"


def _dsn(url: str) -> str:
    return url.replace("+asyncpg", "")


class _LentDatabase:
    """One database, and the connection that empties it: a new one would take longer than the work."""

    def __init__(self, url: str, connection: "asyncpg.Connection[Any]") -> None:
        self.url = url
        self.name = url.split("?", maxsplit=1)[0].rpartition("/")[2]
        self.connection = connection
        self.engine = create_engine(url)


@dataclass(frozen=True)
class DatabaseRows:
    """All rows of a database, as a statement that writes them into one without rows."""

    statement: str


class DatabasePool:
    """Lends databases with the template's schema and no rows.

    Making one and dropping it takes 30 ms of CPU, emptying one takes 3. Its connections live in a thread with a loop of
    its own, as each test has another loop, some of them on virtual time.
    """

    def __init__(self, pg_url: str) -> None:
        self._pg_url = pg_url
        self._idle: list[_LentDatabase] = []
        self._lent: dict[str, _LentDatabase] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="databases of tests", daemon=True).start()

    def lend(self) -> str:
        """The address of a database that nobody else uses until it is given back."""
        database = self._idle.pop() if self._idle else self._run(self._create())
        self._lent[database.url] = database
        return database.url

    def engine_of(self, url: str) -> AsyncEngine:
        """The engine of a lent database: what one test compiled the next need not. Dispose of it when the test ends."""
        return self._lent[url].engine

    def give_back(self, url: str) -> None:
        self._run(self._empty(self._lent.pop(url)))

    @contextmanager
    def lent(self) -> Iterator[str]:
        url = self.lend()
        try:
            yield url
        finally:
            self.give_back(url)

    def is_lent(self, url: str) -> bool:
        return url in self._lent

    def read_rows(self, url: str) -> DatabaseRows:
        return self._run(self._read_rows(self._lent[url].connection))

    def write_rows(self, url: str, rows: DatabaseRows) -> bool:
        """Writes rows that were read from another database; does nothing and returns False where rows are already."""
        return self._run(self._write_rows(self._lent[url].connection, rows))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_TIMEOUT_S)

    async def _create(self) -> _LentDatabase:
        url = await create_database(self._pg_url, f"test_{uuid.uuid4().hex}", template=TEMPLATE)
        connection = await asyncpg.connect(_dsn(url))
        tables = [_EMPTY_TABLE.format(name=row[0]) for row in await connection.fetch(_TABLES)]
        sequences = [
            _RESTART_SEQUENCE.format(name=name, start=start) for name, start in await connection.fetch(_SEQUENCES)
        ]
        await connection.execute(
            _EMPTY_TABLES.format(
                objects=await connection.fetchval(f"SELECT {_COUNT_OBJECTS}"),
                count_objects=_COUNT_OBJECTS,
                revision=await connection.fetchval("SELECT version_num FROM alembic_version"),
                tables="".join(tables),
                sequences="\n".join(sequences),
            )
        )
        return _LentDatabase(url, connection)

    async def _empty(self, database: _LentDatabase) -> None:
        try:
            is_as_new = await database.connection.fetchval("SELECT pg_temp.empty_tables()")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            # The test ended every connection of the server, ours too.
            is_as_new = False
        if is_as_new:
            self._idle.append(database)
        else:
            database.connection.terminate()
            await drop_database(self._pg_url, database.name)

    async def _read_rows(self, connection: "asyncpg.Connection[Any]") -> DatabaseRows:
        has_rows, statements = [], []
        for (table,) in await connection.fetch(_TABLES):
            rows = await connection.fetchval(f"SELECT json_agg(r) FROM {table} r")
            if rows is None:
                continue
            columns = await connection.fetchval(_WRITTEN_COLUMNS, table)
            has_rows.append(f"EXISTS (SELECT FROM {table})")
            statements.append(
                f"INSERT INTO {table} ({columns}) SELECT {columns} FROM "
                f"json_populate_recordset(NULL::{table}, $rows${json.dumps(json.loads(rows))}$rows$);"
            )
        for name, _ in await connection.fetch(_SEQUENCES):
            last = await connection.fetchval(f"SELECT CASE WHEN is_called THEN last_value END FROM {name}")
            if last is not None:
                statements.append(f"PERFORM setval('{name}', {last});")
        return DatabaseRows(_WRITE_ROWS.format(has_rows=" OR ".join(has_rows), inserts="\n    ".join(statements)))

    async def _write_rows(self, connection: "asyncpg.Connection[Any]", rows: DatabaseRows) -> bool:
        try:
            await connection.execute(rows.statement)
        except asyncpg.RaiseError:
            return False
        return True
