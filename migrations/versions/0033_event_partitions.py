"""Partition the events of calls by the number of their run.

The existing table becomes the first partition as it is: no row is rewritten, and reading it all, to prove that its runs
are below the partition's end, blocks nobody. What locks it is one short transaction.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
# Older code that deletes an organization must not meet rows in two partitions: see the distance to the end of the first one.
oldest_code = "0026"

FIRST = "run_events_from_0"
DEFAULT = "run_events_default"
FITS = "ck_run_events_from_0_end"
# Runs of one partition, at least; the first one also has room for all that begin while older code is still running.
MIN_RUNS = 100_000
# Shorter than PostgreSQL takes to see a deadlock: the migration gives up before anybody's request does.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '500ms'"
FOREIGN_KEY = "CONSTRAINT fk_run_events_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE"


def upgrade() -> None:
    connection = op.get_bind()
    end, runs = _read_end(connection)
    with op.get_context().autocommit_block():
        _prove_end(connection, end)
    # Blocks nobody, and makes autovacuum leave these tables.
    op.execute("SET LOCAL lock_timeout = '30s'")
    op.execute("LOCK TABLE runs, run_events IN SHARE UPDATE EXCLUSIVE MODE")
    op.execute(LOCK_TIMEOUT)
    op.execute("LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE")
    op.execute("LOCK TABLE run_events IN ACCESS EXCLUSIVE MODE")
    op.execute(f"ALTER TABLE run_events RENAME TO {FIRST}")
    op.execute(f"ALTER INDEX pk_run_events RENAME TO pk_{FIRST}")
    op.execute(f"CREATE TABLE run_events (LIKE {FIRST} INCLUDING DEFAULTS) PARTITION BY RANGE (run_id)")
    op.execute(f"ALTER TABLE run_events ADD CONSTRAINT pk_run_events PRIMARY KEY (run_id, seq), ADD {FOREIGN_KEY}")
    op.execute(f"ALTER TABLE run_events ATTACH PARTITION {FIRST} FOR VALUES FROM (MINVALUE) TO ({end})")
    op.execute(f"ALTER TABLE {FIRST} DROP CONSTRAINT {FITS}")
    for first in (end, end + runs):
        op.execute(
            f"CREATE TABLE run_events_from_{first} PARTITION OF run_events FOR VALUES FROM ({first}) TO ({first + runs})"
        )
    op.execute(f"CREATE TABLE {DEFAULT} PARTITION OF run_events DEFAULT")


def _read_end(connection: sa.Connection) -> tuple[int, int]:
    """Returns the end of the first partition, and how many runs a partition has. An attempt that was interrupted has set the
    end already."""
    last = connection.scalar(sa.text("SELECT coalesce(pg_sequence_last_value('runs_id_seq'), 0)"))
    of_month = connection.scalar(
        sa.text("SELECT id FROM runs WHERE created_at >= now() - interval '31 days' ORDER BY created_at, id LIMIT 1")
    )
    runs = max(MIN_RUNS, _round_up(last - (last if of_month is None else of_month)))
    definition = connection.scalar(
        sa.text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name"), {"name": FITS}
    )
    if definition is None:
        return _round_up(last + runs), runs
    return int("".join(filter(str.isdigit, definition))), runs


def _prove_end(connection: sa.Connection, end: int) -> None:
    """Adds the condition for new rows at once, then reads the existing ones beside their readers and writers."""
    connection.execute(sa.text("SET lock_timeout = '500ms'"))
    try:
        connection.execute(
            sa.text(
                "DO $$ BEGIN"
                f" IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = '{FITS}') THEN"
                f" ALTER TABLE run_events ADD CONSTRAINT {FITS} CHECK (run_id < {end}) NOT VALID; END IF; END $$"
            )
        )
    finally:
        connection.execute(sa.text("RESET lock_timeout"))
    connection.execute(sa.text(f"ALTER TABLE run_events VALIDATE CONSTRAINT {FITS}"))


def _round_up(runs: int) -> int:
    return -(-runs // 10_000) * 10_000
