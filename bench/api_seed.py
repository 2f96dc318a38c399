"""Fills a database for the API bench: one large organization among a hundred others, in a minute or two."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
from sqlalchemy import text

from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.runs.partitions.run_partitions import MIN_RUNS, RunPartitions

MINE = 100_000
WORKFLOWS = 2_000
OTHER_ORGANIZATIONS = 100
DAYS = 60
# The workflow whose list is measured has a fifth of the organization's runs.
HEAVY_SHARE = 0.2
# As many as the machines of the benches have cores.
CONNECTIONS = 2
# Runs that one statement writes: they are sorted in memory.
PART = 50_000
STATEMENT_TIMEOUT_S = 3600.0
REPORTED_FROM_S = 10.0
_SESSION = """
SET session_replication_role = replica;
SET work_mem = '256MB';
SET maintenance_work_mem = '512MB';
SET synchronous_commit = off
"""
# What is written is flushed once in the end, and read by nothing before.
_UNSAFE = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}
LARGE = (
    "runs",
    "run_values",
    "usage_buckets",
    "outcome_buckets",
    "agent_days",
    "model_usage_buckets",
    "ledger_entries",
    "audit_entries",
)
_INDEXES = """
SELECT p.tablename, p.indexname, p.indexdef FROM pg_indexes AS p
WHERE p.tablename = ANY($1) AND NOT EXISTS (
  SELECT FROM pg_constraint AS c WHERE c.conindid = format('%I.%I', p.schemaname, p.indexname)::regclass
)
"""
_TABLES = """
SELECT c.relname AS name FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY c.relkind = 'p' DESC, pg_table_size(c.oid) DESC
"""

_DEFINITION = """
{"nodes": [{"id": "start", "type": "startCall", "position": {"x": 0, "y": 0},
  "data": {"name": "Greeting", "greeting": "Hello", "prompt": "Greet the caller and find out what they want."}},
 {"id": "bye", "type": "endCall", "position": {"x": 0, "y": 200}, "data": {"name": "Goodbye", "prompt": "Say goodbye."}}],
 "edges": [{"id": "e1", "source": "start", "target": "bye", "data": {"label": "Done", "condition": "the caller is done"}}]}
"""
_ORGANIZATIONS = """
INSERT INTO organizations (name) SELECT 'Other ' || n FROM generate_series(1, $1::int) AS n RETURNING id
"""
_WORKFLOWS = """
INSERT INTO workflows (organization_id, name, status)
SELECT $1::int, 'Agent ' || n, CASE WHEN n % 10 = 0 THEN 'archived' ELSE 'active' END
FROM generate_series(1, $2::int) AS n
"""
_VERSIONS = """
INSERT INTO workflow_versions (workflow_id, organization_id, version_number, status, definition, published_at)
SELECT w.id, w.organization_id, v.number, v.status, $1::jsonb, now()
FROM workflows AS w
CROSS JOIN (VALUES (1, 'archived'), (2, 'published'), (3, 'draft')) AS v (number, status)
WHERE (v.number < 3 OR w.id % 3 = 0)
  AND NOT EXISTS (SELECT FROM workflow_versions AS known WHERE known.workflow_id = w.id)
"""
# Rows of the large organization lie between those of the others, as they would after months.
# Two connections write parts of it at once, so the numbers of runs are given: they grow with time.
_RUNS = """
INSERT INTO runs (id, organization_id, workflow_id, version_id, version_number, name, mode, direction, status, outcome,
  phone_number, caller_number, called_number, call_id, campaign_id, initial_context, gathered_context, usage, latency,
  cost_cents, duration, end_reason, created_at, started_at, answered_at, ended_at, recording_key)
SELECT n, org, workflow, version, 2, 'WR-TEL-OUT-' || lpad(n::text, 8, '0'), mode, direction, status, outcome,
  phone, '+14155550100', phone, 'CA' || md5(n::text), CASE WHEN n % 3 = 0 THEN 1 + n % 40 END,
  jsonb_build_object('name', 'Customer ' || n, 'city', (ARRAY['Lyon','Pune','Lima','Oslo'])[1 + n % 4], 'phone', phone,
    'provider', mode, 'direction', direction, 'note', repeat('x', 80)),
  jsonb_build_object('age', n % 90, 'interested', n % 2 = 0, 'extracted_variables',
    jsonb_build_object('age', n % 90, 'interested', n % 2 = 0), 'nodes_visited', '["Greeting","Goodbye"]'::jsonb),
  jsonb_build_object('llm', jsonb_build_array(jsonb_build_object('provider', 'openai', 'model', 'gpt-4.1',
    'prompt_tokens', 900 + n % 700, 'completion_tokens', 80, 'calls', 6)),
    'tts', '[{"provider": "elevenlabs", "model": "eleven_flash_v2_5", "characters": 900}]'::jsonb,
    'stt', '[{"provider": "deepgram", "model": "nova-3", "seconds": 61.5}]'::jsonb),
  '{"p50_ms": 640, "p95_ms": 910, "turns": 6}'::jsonb, n % 40, duration, 'agent_ended', created, created, created,
  created + make_interval(secs => duration::float8), 'recordings/' || org || '/' || n || '.wav'
FROM (
  SELECT n, org, workflow, version,
    (ARRAY['twilio','twilio','telnyx','browser','sandbox'])[1 + n % 5] AS mode,
    CASE WHEN n % 4 = 0 THEN 'inbound' ELSE 'outbound' END AS direction,
    CASE WHEN n % 7 = 0 THEN 'no_answer' WHEN n % 11 = 0 THEN 'busy' ELSE 'completed' END AS status,
    CASE WHEN n % 7 = 0 THEN 'no_answer' WHEN n % 11 = 0 THEN 'busy' WHEN n % 13 = 0 THEN 'voicemail'
      ELSE 'answered' END AS outcome,
    '+1415' || lpad((n::bigint * 7919 % 10000000)::text, 7, '0') AS phone,
    CASE WHEN n % 7 = 0 THEN NULL ELSE round((random() * 300)::numeric, 3) END AS duration,
    now() - make_interval(days => $4::int) * (1 - n::float8 / $1::int) AS created
  FROM (
    SELECT n, pick.organization_id AS org, pick.id AS workflow, pick.version_id AS version
    FROM (
      SELECT n, CASE WHEN random() < $3::float8 THEN 0 ELSE 1 + (random() * ($5::int - 1))::int END AS place,
        CASE WHEN random() < $6::float8 THEN 1 ELSE 1 + (random() * ($2::int - 1))::int END AS mine
      FROM generate_series($7::int, $8::int) AS n
    ) AS drawn
    JOIN bench_workflows AS pick ON pick.place = CASE WHEN drawn.place = 0 THEN drawn.mine ELSE $2::int + drawn.place END
  ) AS placed
) AS facts ORDER BY n
"""
_VALUES = """
INSERT INTO run_values (run_id, name, organization_id, workflow_id, created_at, value, number)
SELECT r.id, v.name, r.organization_id, r.workflow_id, r.created_at, v.value, v.number
FROM runs AS r CROSS JOIN LATERAL extract_run_values(r.initial_context, r.gathered_context) AS v
WHERE r.id BETWEEN $1 AND $2
"""
_SUMS = (
    """INSERT INTO run_counts (organization_id, workflow_id, runs)
    SELECT organization_id, workflow_id, count(*) FROM runs GROUP BY 1, 2""",
    """INSERT INTO usage_buckets (organization_id, bucket_at, calls, duration_ms, billable_ms, cost_cents)
    SELECT organization_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z'), count(*),
      sum(coalesce(duration, 0) * 1000), sum(coalesce(duration, 0) * 1000), sum(cost_cents) FROM runs GROUP BY 1, 2
    ORDER BY 1, 2""",
    """INSERT INTO outcome_buckets (organization_id, bucket_at, outcome, calls)
    SELECT organization_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z'), outcome, count(*)
    FROM runs GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
    """INSERT INTO agent_days (organization_id, day, workflow_id, outcome, calls, duration_ms, cost_cents)
    SELECT organization_id, (created_at AT TIME ZONE 'UTC')::date, workflow_id, outcome, count(*),
      sum(coalesce(duration, 0) * 1000), sum(cost_cents) FROM runs GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4""",
    """INSERT INTO ledger_entries (organization_id, kind, amount_cents, balance_cents, run_id, created_at)
    SELECT organization_id, 'run', -cost_cents, -cost_cents, id, created_at FROM runs""",
    """INSERT INTO audit_entries (organization_id, action, target, data, created_at)
    SELECT organization_id, 'workflow.updated', 'workflow:' || workflow_id, '{"fields": ["name"]}'::jsonb, created_at
    FROM runs WHERE id % 5 = 0""",
    """INSERT INTO api_keys (organization_id, name, prefix, key_sha256)
    SELECT o.id, 'Key ' || n, 'ohk_' || n, decode(md5(o.id || '-' || n), 'hex')
    FROM organizations AS o CROSS JOIN generate_series(1, 50) AS n""",
)
# From what the others wrote.
_SUMS_OF_SUMS = (
    """INSERT INTO model_usage_buckets (organization_id, bucket_at, kind, provider, model, prompt_tokens,
      completion_tokens, characters, seconds, calls, runs, unpriced_runs, cost_cents)
    SELECT organization_id, bucket_at, kind, provider, model, calls * 900, calls * 80, calls * 900, calls * 61, calls,
      calls, 0, cost_cents
    FROM usage_buckets CROSS JOIN (VALUES ('llm', 'openai', 'gpt-4.1'), ('llm', 'groq', 'llama-3.3-70b-versatile'),
      ('tts', 'elevenlabs', 'eleven_flash_v2_5'), ('stt', 'deepgram', 'nova-3')) AS m (kind, provider, model)
    ORDER BY 1, 2, 3, 4, 5""",
    """INSERT INTO billing_accounts (organization_id, balance_cents)
    SELECT organization_id, sum(amount_cents) FROM ledger_entries GROUP BY 1""",
)


@dataclass(frozen=True)
class Task:
    """One statement, of one of the connections."""

    statement: str
    values: tuple[Any, ...] = ()


async def seed(url: str, organization_id: int, *, others: int) -> dict[str, Any]:
    """Writes :data:`MINE` runs of the organization and ``others`` of others, and returns the data that the bench
    needs. The database should have no runs yet. Until it is done, a crash of the machine would damage it."""
    began, total = time.monotonic(), MINE + others
    await _add_months(url, total)
    connections = [await asyncpg.connect(url.replace("+asyncpg", "")) for _ in range(CONNECTIONS)]
    try:
        for connection in connections:
            await connection.execute(_SESSION)
        await _set_unsafe(connections[0], _UNSAFE)
        try:
            facts = await _seed(connections, organization_id, others)
        finally:
            await _set_unsafe(connections[0], {})
        await connections[0].execute("CHECKPOINT")
    finally:
        for connection in connections:
            await connection.close()
    print(f"seeded {total} runs in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return facts


async def _set_unsafe(connection: "asyncpg.Connection[Any]", settings: Mapping[str, str]) -> None:
    """Sets these for the whole server, and the others back."""
    await connection.execute("ALTER SYSTEM RESET ALL")
    for name, value in settings.items():
        await connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    await connection.execute("SELECT pg_reload_conf()")


async def _add_months(url: str, total: int) -> None:
    """Adds partitions for the runs, as the job does while runs begin."""
    db = Database(url)
    try:
        for last in range(MIN_RUNS, total + 1, MIN_RUNS):
            await _set_last_run(db, last)
            await RunPartitions(db, SystemClock()).keep_ahead({})
        await _set_last_run(db, 1, is_called=False)
    finally:
        await db.dispose()


async def _set_last_run(db: Database, last: int, *, is_called: bool = True) -> None:
    async with db.transaction() as session:
        await session.execute(
            text("SELECT setval('runs_id_seq', :last, :is_called)"), {"last": last, "is_called": is_called}
        )


async def _run(connections: Sequence["asyncpg.Connection[Any]"], tasks: Iterable[Task]) -> None:
    """Runs the tasks, each on the next connection that is free; the longest should come first."""
    left = deque(tasks)

    async def work(connection: "asyncpg.Connection[Any]") -> None:
        while left:
            task = left.popleft()
            began = time.monotonic()
            await connection.execute(task.statement, *task.values, timeout=STATEMENT_TIMEOUT_S)
            if (took := time.monotonic() - began) > REPORTED_FROM_S:
                print(f"{took:6.0f} s  {' '.join(task.statement.split())[:100]}", file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(work(connection))


def _parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Yields the first and last number of each part."""
    for first in range(1, total + 1, size):
        yield first, min(total, first + size - 1)


async def _seed(connections: Sequence["asyncpg.Connection[Any]"], organization_id: int, others: int) -> dict[str, Any]:
    connection, total = connections[0], MINE + others
    await _make_workflows(connection, organization_id)
    indexes = await _drop_indexes(connection)
    shares = (total, WORKFLOWS, MINE / total, DAYS, OTHER_ORGANIZATIONS * 5, HEAVY_SHARE)
    await _run(connections, [Task(_RUNS, (*shares, *part)) for part in _parts(total, PART)])
    await connection.execute("SELECT setval('runs_id_seq', max(id)) FROM runs")
    await connection.execute("ANALYZE runs")
    of_runs, of_values = (
        [Task(index.definition) for index in indexes if index.table == table] for table in ("runs", "run_values")
    )
    of_others = [Task(index.definition) for index in indexes if index.table not in ("runs", "run_values")]
    values = [Task(_VALUES, part) for part in _parts(total, MIN_RUNS)]
    await _run(connections, [*values, *map(Task, _SUMS), *of_runs])
    await _run(connections, [*of_values, *map(Task, _SUMS_OF_SUMS)])
    await _run(connections, of_others)
    await connection.execute("DROP TABLE bench_workflows")
    tables = await connection.fetch(_TABLES)
    await _run(connections, [Task(f'VACUUM ANALYZE "{row["name"]}"') for row in tables])
    heavy = await connection.fetchrow(
        "SELECT workflow_id, count(*) AS runs, max(id) AS run_id FROM runs WHERE organization_id = $1 GROUP BY 1 "
        "ORDER BY 2 DESC LIMIT 1",
        organization_id,
    )
    assert heavy is not None
    mine = await connection.fetchval("SELECT count(*) FROM runs WHERE organization_id = $1", organization_id)
    return {
        "organization_id": organization_id,
        "workflow_id": heavy["workflow_id"],
        "run_id": heavy["run_id"],
        "runs": {"mine": mine, "all": total, "workflow": heavy["runs"]},
    }


async def _make_workflows(connection: "asyncpg.Connection[Any]", organization_id: int) -> None:
    ids = [row["id"] for row in await connection.fetch(_ORGANIZATIONS, OTHER_ORGANIZATIONS)]
    await connection.execute(_WORKFLOWS, organization_id, WORKFLOWS)
    for other in ids:
        await connection.execute(_WORKFLOWS, other, 5)
    await connection.execute(_VERSIONS, _DEFINITION)
    await connection.execute(
        """CREATE TABLE bench_workflows AS
        SELECT row_number() OVER (ORDER BY w.organization_id <> $1, w.id)::int AS place, w.organization_id, w.id,
          v.id AS version_id
        FROM workflows AS w JOIN workflow_versions AS v ON v.workflow_id = w.id AND v.version_number = 2
        WHERE w.name LIKE 'Agent %'""".replace("$1", str(organization_id))
    )
    await connection.execute("CREATE INDEX ON bench_workflows (place); ANALYZE bench_workflows")


@dataclass(frozen=True)
class Index:
    table: str
    definition: str


async def _drop_indexes(connection: "asyncpg.Connection[Any]") -> list[Index]:
    """Drops the indexes of the large tables and returns them: rebuilding is four times as fast as keeping them."""
    rows = await connection.fetch(_INDEXES, LARGE)
    for row in rows:
        await connection.execute(f'DROP INDEX "{row["indexname"]}"')
    # Those of a partitioned table are built in its partitions as well.
    return [Index(row["tablename"], row["indexdef"].replace(" ON ONLY ", " ON ")) for row in rows]
