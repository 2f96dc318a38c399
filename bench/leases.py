"""Measures the cost of renewing the leases of live calls: ``python -m bench.leases``.

One process renews all its calls with one statement every few seconds. Measured among 20,000 finished runs in an
embedded database, with the current indexes and with one on ``lease_until`` as in the first version; WAL is the figure
to compare.
"""

import asyncio
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import text

from offhook.bootstrap import METADATA
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.runs.live import lease_queries

CALLS: Final = 100
ROUNDS: Final = 100
_FILL: Final = """
INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, status, worker_id,
  lease_until, initial_context, usage)
SELECT 1, 1, 1, 1, 'Run ' || n, 'twilio', 'outbound', CASE WHEN is_live THEN 'in_progress' ELSE 'completed' END,
  CASE WHEN is_live THEN 'w' END, CASE WHEN is_live THEN now() END,
  jsonb_build_object('name', 'Customer ' || n, 'note', repeat('x', 300)),
  CASE WHEN is_live THEN '{}'::jsonb ELSE jsonb_build_object('llm', repeat('y', 300)) END
FROM (SELECT n, n % 200 = 0 AS is_live FROM generate_series(1, 20000) AS n) AS numbers
"""
_AS_BEFORE: Final = "CREATE INDEX as_before ON runs (lease_until) WHERE lease_until IS NOT NULL"
_HOT: Final = "SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables WHERE relname = 'runs'"


async def renew(db: Database, name: str) -> None:
    """Prints WAL bytes and the share of updates that touched no index, per renewal, and renewals per second."""
    async with db.transaction() as session:
        ids = list(await session.scalars(text("SELECT id FROM runs WHERE worker_id IS NOT NULL ORDER BY id")))
        await session.execute(text("SELECT pg_stat_reset()"))
        before = await session.scalar(text("SELECT pg_current_wal_insert_lsn()"))
    assert len(ids) == CALLS
    began = time.perf_counter()
    for n in range(ROUNDS):
        async with db.transaction() as session:
            until = datetime.now(UTC) + timedelta(seconds=n)
            assert len(await lease_queries.renew_run_leases(session, ids, worker_id="w", until=until)) == CALLS
    took_s = time.perf_counter() - began
    await asyncio.sleep(1.5)  # statistics are reported once a second
    async with db.transaction() as session:
        written = await session.scalar(
            text("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), CAST(:at AS pg_lsn))"), {"at": before}
        )
        hot, updated = (await session.execute(text(_HOT))).one()
    renewals = CALLS * ROUNDS
    print(
        f"{name:<24} {float(written or 0) / renewals:7.0f} bytes of WAL a renewal, {hot / max(updated, 1):6.1%} in place, "
        f"{renewals / took_s:7.0f} renewals a second"
    )


async def main(url: str) -> None:
    assert METADATA.tables
    db = Database(url)
    await migrations.upgrade_database(db, lambda _: None)
    async with db.transaction() as session:
        for statement in ("SET LOCAL session_replication_role = replica", _FILL):
            await session.execute(text(statement.replace("::", r"\:\:")))
    await renew(db, "as it is")
    async with db.transaction() as session:
        await session.execute(text(_AS_BEFORE))
    await renew(db, "lease_until in an index")
    await db.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        try:
            asyncio.run(main(server.start()))
        finally:
            server.stop()
