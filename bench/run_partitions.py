"""Measures what partitions cost the events and values of calls: ``python -m bench.run_partitions``.

Two databases with the same calls of two years, one with events and values in one table each and one with a partition for each
month, take turns. Each round writes batches as the event writer does, reads whole calls, reads the utterances of a page of
calls, lists calls by their values, changes values, and deletes calls.
"""

import asyncio
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import text

from offhook.bootstrap import METADATA
from offhook.kit.clock import SystemClock
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.filters.criteria import parse_conditions, parse_sort
from offhook.kit.http.pagination import PageRequest
from offhook.runs.lists.listing import COLUMNS, FILTERS, SORTS, RunQuery
from offhook.runs.lists.queries import find_runs
from offhook.runs.lists.superuser_queries import find_runs_across_organizations
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.records.event_queries import NewEvent, append_events, read_events, read_first_utterances
from offhook.runs.tables import Run

MONTHS: Final = 24
RUNS_A_MONTH: Final = 500
# Numbers between two runs: a partition is for 100,000.
STEP: Final = 100_000 // RUNS_A_MONTH
EVENTS_A_RUN: Final = 60
ROUNDS: Final = 40
BATCHES: Final = 20
_RUNS: Final = """
INSERT INTO runs (id, organization_id, workflow_id, version_id, version_number, name, mode, direction, status, initial_context, created_at)
SELECT n * :step + 1, 1, 1, 1, 1, 'Run ' || n, 'twilio', 'outbound', 'completed',
  jsonb_build_object('city', (ARRAY['Lyon', 'Pune', 'Lima', 'Oslo'])[n % 4 + 1], 'customer', 'C' || n, 'age', n % 90), now() - (:runs - n) * interval '1 day' * 730 / :runs
FROM generate_series(0, :runs - 1) AS n
"""
_EVENTS: Final = """
INSERT INTO run_events (run_id, seq, organization_id, type, at_ms, data)
SELECT id, seq, 1, (ARRAY['agent_said', 'caller_said', 'turn_timed'])[seq % 3 + 1], seq * 900,
  jsonb_build_object('text', repeat('a few words ', 6))
FROM runs, generate_series(1, :events) AS seq ORDER BY id, seq
"""
_VALUES: Final = """
INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value, number)
SELECT r.id, v.name, 1, 1, r.created_at, v.value, v.number
FROM runs AS r CROSS JOIN LATERAL extract_run_values(r.initial_context, r.gathered_context) AS v ORDER BY r.id
"""
_LSN: Final = text("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn".replace("::", r"\:\:"))


class Contender:
    """One of the databases, with its times."""

    def __init__(self, name: str, db: Database) -> None:
        self.name = name
        self.db = db
        self.times: dict[str, list[float]] = {}
        self.log_bytes: list[float] = []

    async def fill(self) -> None:
        runs = MONTHS * RUNS_A_MONTH
        values = {"step": STEP, "runs": runs, "events": EVENTS_A_RUN}
        async with self.db.without_time_limit() as unlimited, unlimited.transaction() as session:
            await session.execute(text("SET LOCAL session_replication_role = replica"))
            for statement in (_RUNS, _EVENTS, _VALUES):
                used = {name: value for name, value in values.items() if f":{name}" in statement}
                await session.execute(text(statement), used)
        for table in ("runs", "run_events", "run_values"):
            await self.db.run_outside_transaction(f"VACUUM ANALYZE {table}")

    async def add_months(self) -> None:
        partitions = RunPartitions(self.db, SystemClock())
        for month in range(MONTHS):
            async with self.db.transaction() as session:
                await session.execute(text("SELECT setval('runs_id_seq', :n)"), {"n": month * 100_000 + 1})
            await partitions.keep_ahead({})

    async def measure(self, seed: int) -> None:
        chosen = random.Random(seed)
        runs = [number * STEP + 1 for number in range(MONTHS * RUNS_A_MONTH)]
        live = runs[-40:]

        async def write() -> None:
            for _ in range(BATCHES):
                now = datetime.now(UTC)
                events = [
                    NewEvent(
                        run_id,
                        "agent_said",
                        0,
                        json.dumps({"text": "a few words " * 6}),
                        now + timedelta(microseconds=n),
                    )
                    for n, run_id in enumerate(live)
                ]
                async with self.db.transaction() as session:
                    await append_events(session, events)

        async def read() -> None:
            for run_id in chosen.sample(runs, BATCHES):
                async with self.db.transaction() as session:
                    await read_events(session, 1, run_id)

        async def read_page() -> None:
            for _ in range(BATCHES):
                async with self.db.transaction() as session:
                    await read_first_utterances(session, 1, chosen.sample(runs, 50))

        async def delete() -> None:
            # takes nothing away from the next round
            async with self.db.engine.connect() as connection:
                await connection.execute(
                    text("DELETE FROM runs WHERE id = ANY(:ids)"), {"ids": chosen.sample(runs, 50)}
                )
                await connection.rollback()

        before = await self._read_log()
        await self._time("write 40 events", write, BATCHES)
        self.log_bytes.append((await self._read_log() - before) / (BATCHES * len(live)))
        await self._time("read a call", read, BATCHES)
        await self._time("utterances of 50 calls", read_page, BATCHES)
        await self._measure_values(chosen, runs)
        await self._time("delete 50 calls", delete, 1)

    async def _measure_values(self, chosen: random.Random, runs: list[int]) -> None:
        async def list_runs(field: str, value: str, offset: int) -> None:
            conditions = parse_conditions(json.dumps([{"field": field, "type": "select", "value": value}]), FILTERS)
            conditions.on_columns.append(Run.organization_id == 1)
            order = parse_sort("created_at", "desc", SORTS, default="created_at", tie_break=Run.id)
            async with self.db.transaction() as session:
                await find_runs(session, COLUMNS, conditions, order, limit=50, offset=offset)

        async def list_city() -> None:
            for _ in range(BATCHES):
                await list_runs("context.city", chosen.choice(("Lyon", "Lima")), 0)

        async def list_city_deep() -> None:
            for _ in range(BATCHES):
                await list_runs("context.city", chosen.choice(("Lyon", "Lima")), MONTHS * RUNS_A_MONTH // 8)

        async def list_customer() -> None:
            for _ in range(BATCHES):
                await list_runs("context.customer", f"C{chosen.randrange(MONTHS * RUNS_A_MONTH)}", 0)

        async def list_as_superuser() -> None:
            filters = json.dumps([{"field": "context.city", "type": "select", "value": "Lyon"}])
            for _ in range(BATCHES):
                async with self.db.transaction() as session:
                    await find_runs_across_organizations(session, RunQuery(PageRequest(1, 50), filters, None, None))

        async def change() -> None:
            async with self.db.engine.connect() as connection:
                for run_id in chosen.sample(runs, BATCHES):
                    await connection.execute(
                        text(
                            "UPDATE runs SET gathered_context = jsonb_build_object('age', id, 'name', 'Ann') WHERE id = :id"
                        ),
                        {"id": run_id},
                    )
                await connection.rollback()

        await self._time("list a city", list_city, BATCHES)
        await self._time("list a city, middle page", list_city_deep, BATCHES)
        await self._time("list a customer", list_customer, BATCHES)
        await self._time("list a city, superuser", list_as_superuser, BATCHES)
        await self._time("change values of a call", change, BATCHES)

    async def _read_log(self) -> float:
        async with self.db.transaction() as session:
            return float(await session.scalar(_LSN) or 0)

    async def _time(self, name: str, work: Callable[[], Awaitable[None]], times: int) -> None:
        began = time.perf_counter()
        await work()
        self.times.setdefault(name, []).append((time.perf_counter() - began) / times * 1000)


def older_version(folder: Path) -> Path:
    """Returns the migrations from before there were partitions."""
    shutil.copytree(migrations.migrations_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "versions").glob("*.py"):
        if path.name[:4] >= "0033":
            path.unlink()
    return folder


async def main(url: str, folder: Path) -> None:
    assert METADATA.tables
    server = Database(url)
    await server.run_outside_transaction("CREATE DATABASE one_table", "CREATE DATABASE months")
    await server.dispose()
    head, query = url.split("?")
    names = [f"{head.rpartition('/')[0]}/{name}?{query}" for name in ("one_table", "months")]
    before, after = Contender("one table", Database(names[0])), Contender("months", Database(names[1]))
    await migrations.upgrade_database(before.db, lambda _: None, older_version(folder / "older"))
    await migrations.upgrade_database(after.db, lambda _: None)
    await after.add_months()
    for contender in (before, after):
        await contender.fill()
    for number in range(ROUNDS + 2):
        for contender in (before, after) if number % 2 else (after, before):
            await contender.measure(number)
    for name in before.times:
        one, other = (statistics.median(contender.times[name][2:]) for contender in (before, after))
        print(f"{name:<24} {one:7.2f} ms in one table, {other:7.2f} ms in {MONTHS} months, ratio {other / one:.2f}")
    one, other = (statistics.median(contender.log_bytes[2:]) for contender in (before, after))
    print(f"{'log of an event':<24} {one:7.0f} bytes, {other:7.0f} bytes, ratio {other / one:.2f}")
    for contender in (before, after):
        await contender.db.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        embedded = EmbeddedPostgres(Path(temporary) / "data")
        try:
            asyncio.run(main(embedded.start(), Path(temporary)))
        finally:
            embedded.stop()
