"""An upgrade with a migration under load, and the way back: the case ``upgrade`` of ``bench.cluster``.

The newer version is a copy of this one with one more migration (expand: a column with a default and an index that is
built beside requests; the code of before goes on with it, as ``oldest_code`` says) and, in the end, another one that
takes both away again (contract). Each is applied by the copy's own ``offhook migrate``. Servers and workers pass to the
newer version one by one, and back.
"""

import asyncio
import compileall
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
import httpx2

import offhook_lab
from bench.api_seed import MINE, seed
from bench.cluster_rig import Cluster, Node
from bench.cluster_tenant import Tenant
from offhook.kit.database import migrations
from offhook.orgs import service as orgs

DRAIN_TIMEOUT_S: Final = 100.0
MIGRATE_TIMEOUT_S: Final = 400.0
REQUEST_INTERVAL_S: Final = 0.1
SAMPLE_INTERVAL_S: Final = 0.05
# A statement of a migration waits this long at most before it lets the others go first.
LOCK_GOAL_S: Final = migrations.LOCK_TIMEOUT_S + 1.0
SOURCE: Final = Path(migrations.__file__).parents[4]
EXPAND: Final = '''"""A label of runs, and an index over it."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"
oldest_code = "{oldest}"


def upgrade() -> None:
    op.execute("ALTER TABLE runs ADD COLUMN bench_label text DEFAULT 'none' NOT NULL")
    with op.get_context().autocommit_block():
        op.create_index(
            "ix_bench_label", "runs", ["organization_id", "bench_label", "id"], postgresql_concurrently=True
        )
'''
CONTRACT: Final = '''"""Without the label of runs."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"
oldest_code = "{oldest}"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.drop_index("ix_bench_label", "runs", postgresql_concurrently=True)
    op.execute("ALTER TABLE runs DROP COLUMN bench_label")
'''
_WAITING: Final = (
    "SELECT pid, extract(epoch FROM clock_timestamp() - state_change)::float8 AS waited, left(query, 80) AS query"
    " FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event <> 'advisory' AND state = 'active'"
    " AND query NOT ILIKE '%CONCURRENTLY%'"
)


@dataclass
class Requests:
    """Requests through the balancer, ten a second, until canceled."""

    client: httpx2.AsyncClient
    url: str
    key: str
    workflow_id: int
    took_s: list[float] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)

    async def run(self) -> None:
        number = 0
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self._ask(number))
                number += 1
                await asyncio.sleep(REQUEST_INTERVAL_S)

    async def _ask(self, number: int) -> None:
        runs = f"/api/v1/workflow/{self.workflow_id}/runs?limit=20"
        method, path, body = (
            ("GET", runs, None),
            ("GET", "/api/v1/organizations/usage/runs?limit=20", None),
            (
                "POST",
                "/api/v1/organizations/do-not-call",
                {"phone_numbers": [f"+1415{2000000 + number}"], "reason": "bench"},
            ),
        )[number % 3]
        began = time.monotonic()
        try:
            answer = await self.client.request(
                method, f"{self.url}{path}", json=body, headers={"X-API-Key": self.key}, timeout=30
            )
            problem = "" if answer.status_code < 300 else f"{method} {answer.status_code}"
        except httpx2.HTTPError as error:
            problem = f"{method} {type(error).__name__}"
        self.took_s.append(time.monotonic() - began)
        if problem:
            self.failed[problem] = self.failed.get(problem, 0) + 1


@dataclass
class LockWaits:
    """Who waits for a lock of the database, and the longest wait, looked at twenty times a second."""

    url: str
    longest_s: float = 0.0
    query: str = ""
    samples: int = 0

    async def run(self) -> None:
        connection = await asyncpg.connect(self.url.replace("+asyncpg", ""))
        try:
            while True:
                self.samples += 1
                for row in await connection.fetch(_WAITING):
                    if row["waited"] > self.longest_s:
                        self.longest_s, self.query = row["waited"], row["query"]
                await asyncio.sleep(SAMPLE_INTERVAL_S)
        finally:
            await connection.close()


@dataclass(frozen=True)
class Version:
    """A copy of the program with migrations of its own."""

    folder: Path

    def environment(self) -> dict[str, str]:
        # the lab and the bench stay this checkout's
        lab = Path(offhook_lab.__file__).parents[1]
        return {"PYTHONPATH": f"{self.folder / 'src'}{os.pathsep}{lab}"}

    def add_migration(self, source: str) -> str:
        """Writes the next migration, which the code of this checkout can live with; returns its revision."""
        folder = self.folder / "migrations"
        before = migrations.head_revision(folder)
        revision = f"{int(before) + 1:04d}"
        values = {"revision": revision, "before": before, "oldest": migrations.head_revision()}
        (folder / "versions" / f"{revision}_bench.py").write_text(source.format(**values))
        return revision

    async def migrate(self, url: str) -> float:
        """Runs ``offhook migrate`` of this version; returns how long it took. Raises SystemExit when it fails."""
        began = time.monotonic()
        environment = os.environ | self.environment() | {"OFFHOOK_DATABASE_URL": url.replace("+asyncpg", "")}
        environment["OFFHOOK_DATA_DIR"] = str(self.folder / "data")
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "offhook.cli", "migrate"],
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=MIGRATE_TIMEOUT_S,
        )
        if done.returncode:
            raise SystemExit(f"the migration failed:\n{done.stdout}{done.stderr}")
        return time.monotonic() - began


def copy_version(folder: Path) -> Version:
    """Copies this checkout's code and migrations, without the page; compiled, as an installed version is."""
    left_out = shutil.ignore_patterns("__pycache__", "_ui")
    shutil.copytree(SOURCE / "src", folder / "src", ignore=left_out)
    compileall.compile_dir(folder / "src", quiet=1)
    shutil.copytree(SOURCE / "migrations", folder / "migrations", ignore=left_out)
    return Version(folder)


async def fill(tenant: Tenant, url: str, rows: int) -> None:
    """Writes this many runs of other organizations: the one that is called would have spent its day's money on them."""
    if rows:
        async with tenant.root.db.transaction() as session:
            organization_id = await orgs.create_organization(session, "Seeded")
        await seed(url, organization_id, others=max(0, rows - MINE))


async def replace(nodes: list[Node], cluster: Cluster, **settings: str) -> None:
    """Ends each process in order and starts it again with these settings, one after another."""
    for node in nodes:
        node.send_signal(15)
        if not await node.wait_ended(DRAIN_TIMEOUT_S):
            raise SystemExit(f"{node.name} did not end")
        if node.url:
            await cluster.restart(node, **settings)
        else:
            node.start(**settings)


async def index_state(url: str) -> bool | None:
    """Returns whether the index is valid; None when there is none."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        found: bool | None = await connection.fetchval(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('ix_bench_label')"
        )
        return found
    finally:
        await connection.close()


async def upgrade_and_back(cluster: Cluster, folder: Path, say: Callable[[str], Awaitable[None]]) -> dict[str, Any]:
    """Expand, one by one to the newer version, side by side, one by one back, contract. Returns figures."""
    url, newer = cluster.postgres.url, copy_version(folder)
    expanded = newer.add_migration(EXPAND)
    await say("expand")
    took = {"expand_s": round(await newer.migrate(url), 1)}
    is_valid = await index_state(url)
    await say("to the newer version")
    began = time.monotonic()
    half = [*cluster.servers[:2], *cluster.workers[:1]]
    await replace(half, cluster, **newer.environment())
    await say("side by side")
    await asyncio.sleep(10)
    await replace(
        [node for node in (*cluster.servers, *cluster.workers) if node not in half], cluster, **newer.environment()
    )
    took["to_newer_s"] = round(time.monotonic() - began, 1)
    await say("back")
    began = time.monotonic()
    await replace([*cluster.servers, *cluster.workers], cluster)
    took["back_s"] = round(time.monotonic() - began, 1)
    await say("contract")
    newer.add_migration(CONTRACT)
    took["contract_s"] = round(await newer.migrate(url), 1)
    await asyncio.sleep(5)
    return {
        "migration": expanded,
        **took,
        "index_was_valid": is_valid,
        "index_is_gone": await index_state(url) is None,
    }
