"""Measures requests per second of one and of two server processes over one database, each pinned to a core.

    .venv/bin/python -m bench.api_processes --processes 1 2 --json

Starts ``offhook serve --no-worker`` N times on an embedded database with 100,000 runs of one organization, and asks all
of them at once over connections that stay open (``--connections`` for each process) for the paths of a busy web app, in
turn. Server N runs on core N only; the database and this program use every core, so on a machine of two cores they take
from what a second server could use: compare ``server_cpu_ms`` and ``requests_per_core_second``, too.
"""

import argparse
import asyncio
import json
import math
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from bench.api import cpu_s
from bench.api_seed import seed
from bench.cluster_rig import free_port
from offhook.bootstrap import build_root
from offhook.kit.database import migrations
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.processes.child_process import die_with_parent
from offhook.orgs import service as orgs
from offhook.settings import Settings

PREFIX: Final = "/api/v1"
START_TIMEOUT_S: Final = 60.0
WARM_UP_S: Final = 2.0
PATHS: Final = (
    "/organizations/api-keys",
    "/workflow/fetch?limit=50",
    "/workflow/{workflow_id}/runs?limit=50",
    "/organizations/usage/runs?limit=50",
    "/workflow/{workflow_id}/runs/{run_id}",
)


@dataclass
class Tally:
    took_ms: list[float] = field(default_factory=list)
    failed: int = 0
    first_failure: str = ""


class Connection:
    """HTTP/1.1 on one socket that stays open: a client library would take more of the cores than the server."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1\r\nX-API-Key: {key}\r\n\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> int:
        """Returns the status, once all of the answer is here."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 22)
        reader, writer = self._streams
        writer.write(f"GET {PREFIX}{path} HTTP/1.1\r\n{self._head}".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" in head:
            while size := int((await reader.readline()).split(b";")[0], 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        else:
            await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
        return int(head.split()[1])

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def pinned(core: int) -> Callable[[], None]:
    """Returns what a child does before it becomes its program."""
    die = die_with_parent()

    def prepare() -> None:
        os.sched_setaffinity(0, {core})
        die()

    return prepare


@contextmanager
def servers(folder: Path, url: str, count: int, shared: dict[str, str]) -> Iterator[list[tuple[int, int]]]:
    """Runs this many servers; yields the process and the port of each."""
    cores = sorted(os.sched_getaffinity(0))
    started: list[tuple[subprocess.Popen[bytes], int]] = []
    try:
        for number in range(count):
            port = free_port()
            with (folder / f"serve{number}.log").open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "offhook.cli", "serve", "--no-worker", "--port", str(port)],
                    env=os.environ
                    | shared
                    | {
                        "OFFHOOK_DATABASE_URL": url.replace("+asyncpg", ""),
                        "OFFHOOK_DATA_DIR": str(folder / f"serve{number}"),
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    preexec_fn=pinned(cores[number % len(cores)]),  # noqa: PLW1509 - two system calls, nothing that locks
                )
            started.append((process, port))
        yield [(process.pid, port) for process, port in started]
    finally:
        for process, _ in started:
            process.kill()
            process.wait()


async def wait_ready(port: int, key: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        connection = Connection(port, key)
        try:
            if await connection.get("/organizations/api-keys") == 200:
                return
        except (OSError, EOFError):
            if time.monotonic() > deadline:
                raise SystemExit("a server did not start") from None
        finally:
            connection.close()
        await asyncio.sleep(0.2)


async def ask(port: int, facts: dict[str, Any], first: int, until: Callable[[], bool], tally: Tally) -> None:
    connection, number = Connection(port, facts["key"]), first
    paths = [path.format(**facts) for path in PATHS]
    try:
        while not until():
            path = paths[number % len(paths)]
            number += 1
            began = time.perf_counter()
            try:
                status = await connection.get(path)
            except (OSError, EOFError) as error:
                status = 0
                tally.first_failure = tally.first_failure or f"{path}: {type(error).__name__}"
                connection.close()
            tally.took_ms.append((time.perf_counter() - began) * 1000)
            if status != 200:
                tally.failed += 1
                tally.first_failure = tally.first_failure or f"{path}: {status}"
    finally:
        connection.close()


async def measure(
    found: list[tuple[int, int]], postgres: int, facts: dict[str, Any], args: argparse.Namespace
) -> dict[str, Any]:
    for _, port in found:
        await wait_ready(port, facts["key"])
    await _ask_all(found, facts, args.connections, WARM_UP_S)
    before = [cpu_s(pid) for pid, _ in found], cpu_s(postgres), time.process_time()
    began = time.monotonic()
    tally = await _ask_all(found, facts, args.connections, args.seconds)
    seconds, requests = time.monotonic() - began, len(tally.took_ms)
    server_s = [cpu_s(pid) - was for (pid, _), was in zip(found, before[0], strict=True)]
    ordered = sorted(tally.took_ms)
    return {
        "processes": len(found),
        "requests": requests,
        "failed": tally.failed,
        "first_failure": tally.first_failure,
        "requests_per_s": round(requests / seconds, 1),
        "p50_ms": round(ordered[requests // 2], 1),
        "p95_ms": round(ordered[max(0, math.ceil(0.95 * requests) - 1)], 1),
        "server_cpu_ms": round(1000 * sum(server_s) / requests, 2),
        "database_cpu_ms": round(1000 * (cpu_s(postgres) - before[1]) / requests, 2),
        "client_cpu_ms": round(1000 * (time.process_time() - before[2]) / requests, 2),
        "busy_share_of_each_server": [round(used / seconds, 2) for used in server_s],
        "requests_per_core_second": round(requests / sum(server_s), 1),
        "load": round(os.getloadavg()[0], 1),
    }


async def _ask_all(found: list[tuple[int, int]], facts: dict[str, Any], connections: int, seconds: float) -> Tally:
    tally, end = Tally(), time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for _, port in found:
            for first in range(connections):
                group.create_task(ask(port, facts, first, lambda: time.monotonic() > end, tally))
    return tally


async def prepare(folder: Path, url: str, secret_key: str, others: int) -> dict[str, Any]:
    """Fills the database; returns the key and the ids that paths need."""
    settings = Settings(data_dir=folder / "bench", secret_key=secret_key)
    root = build_root(settings, url)
    try:
        await migrations.upgrade_database(root.db, lambda _: None)
        async with root.db.transaction() as session:
            first = await orgs.first_start(session, settings)
            key = await orgs.create_key(session, organization_id=first.organization_id, name="bench", role="admin")
        return {"key": key.key, **await seed(url, first.organization_id, others=others)}
    finally:
        await root.db.dispose()


async def run(folder: Path, url: str, postgres: int, args: argparse.Namespace) -> dict[str, Any]:
    shared = {"OFFHOOK_SECRET_KEY": secrets.token_hex(32), "OFFHOOK_SAMPLE_CALL": "false"}
    facts = await prepare(folder, url, shared["OFFHOOK_SECRET_KEY"], args.rows)
    report: dict[str, Any] = {"cpus": os.cpu_count(), "runs": facts["runs"], "measured": []}
    for _ in range(args.rounds):
        for count in args.processes:
            with servers(folder, url, count, shared) as found:
                measured = await measure(found, postgres, facts, args)
            report["measured"].append(measured)
            print(json.dumps(measured), file=sys.stderr, flush=True)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--processes", type=int, nargs="+", default=[1, 2], help="numbers of servers, one after another"
    )
    parser.add_argument("--connections", type=int, default=8, help="to each server")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--rounds", type=int, default=2, help="each number of servers in turn, so often")
    parser.add_argument("--rows", type=int, default=0, help="runs of other organizations")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="offhook-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the database runs as another user
        postgres = EmbeddedPostgres(folder / "database", durable=False)
        try:
            url = postgres.start()
            assert postgres.pid is not None
            report = uvloop.run(run(folder, url, postgres.pid, args))
        finally:
            postgres.stop()
    print(json.dumps(report) if args.json else json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
