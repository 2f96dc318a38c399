"""Partition the values of runs, which lists filter by, by the number of their run.

As the events were: the existing table becomes the first partition as it is, with its indexes. No row is rewritten, and
reading it all, to prove that its runs are below the partition's end, blocks nobody. What locks it is one short transaction.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
# Older code that deletes an organization must not meet rows in two partitions: see the distance to the end of the first one.
oldest_code = "0026"

FIRST = "run_values_from_0"
DEFAULT = "run_values_default"
FITS = "ck_run_values_from_0_end"
# Runs of one partition, at least; the first one also has room for all that begin while older code is still running.
MIN_RUNS = 100_000
ROUND = 10_000
# Shorter than PostgreSQL takes to see a deadlock: the migration gives up before anybody's request does.
LOCK_TIMEOUT = "500ms"
FOREIGN_KEY = "CONSTRAINT fk_run_values_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE"
INDEXES = {
    "ix_run_values_value": "(organization_id, name, value, created_at, run_id) INCLUDE (workflow_id)",
    "ix_run_values_number": (
        "(organization_id, name, number, created_at, run_id) INCLUDE (workflow_id) WHERE number IS NOT NULL"
    ),
}
# Partitions inherit none.
OPTIONS = "WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02)"


def upgrade() -> None:
    connection = op.get_bind()
    end = _read_end(connection)
    with op.get_context().autocommit_block():
        _prove_end(connection, end)
    # Blocks nobody, and makes autovacuum leave these tables.
    op.execute("SET LOCAL lock_timeout = '30s'")
    op.execute("LOCK TABLE runs, run_values IN SHARE UPDATE EXCLUSIVE MODE")
    op.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    # Attaching needs this lock; from a weaker one to it, there would be deadlocks with transactions that do the same.
    op.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
    op.execute("LOCK TABLE run_values IN ACCESS EXCLUSIVE MODE")
    op.execute(f"ALTER TABLE run_values RENAME TO {FIRST}")
    op.execute(f"ALTER INDEX pk_run_values RENAME TO pk_{FIRST}")
    for name in INDEXES:
        op.execute(f"ALTER INDEX {name} RENAME TO {name.replace('run_values', FIRST)}")
    op.execute(f"CREATE TABLE run_values (LIKE {FIRST} INCLUDING DEFAULTS) PARTITION BY RANGE (run_id)")
    op.execute(f"ALTER TABLE run_values ADD CONSTRAINT pk_run_values PRIMARY KEY (run_id, name), ADD {FOREIGN_KEY}")
    for name, definition in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON run_values {definition}")
    # Takes over the indexes and the foreign key of the table, which say the same.
    op.execute(f"ALTER TABLE run_values ATTACH PARTITION {FIRST} FOR VALUES FROM (MINVALUE) TO ({end})")
    op.execute(f"ALTER TABLE {FIRST} DROP CONSTRAINT {FITS}")
    _add_partitions(connection, end)
    op.execute(f"CREATE TABLE {DEFAULT} PARTITION OF run_values DEFAULT {OPTIONS}")


def _read_end(connection: sa.Connection) -> int:
    """Returns the end of the first partition: that of a partition of the events, a month of runs ahead at least. An attempt
    that was interrupted has set the end already."""
    definition = connection.scalar(
        sa.text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name"), {"name": FITS}
    )
    if definition is not None:
        return int("".join(filter(str.isdigit, definition)))
    last = connection.scalar(sa.text("SELECT coalesce(pg_sequence_last_value('runs_id_seq'), 0)"))
    of_month = connection.scalar(
        sa.text("SELECT id FROM runs WHERE created_at >= now() - interval '31 days' ORDER BY created_at, id LIMIT 1")
    )
    needed = last + max(MIN_RUNS, last - (last if of_month is None else of_month))
    return next((end for end in _list_ends_of_events(connection) if end >= needed), -(-needed // ROUND) * ROUND)


def _list_ends_of_events(connection: sa.Connection) -> list[int]:
    ends = connection.scalars(
        sa.text(
            "SELECT CAST(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''?(\\d+)''?\\)$') AS bigint) AS ends"
            " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = 'run_events'::regclass ORDER BY ends"
        )
    )
    return [end for end in ends if end is not None]


def _add_partitions(connection: sa.Connection, start: int) -> None:
    """Adds those that the events have ahead."""
    for end in _list_ends_of_events(connection):
        if end > start:
            bounds = f"FOR VALUES FROM ({start}) TO ({end})"
            op.execute(f"CREATE TABLE run_values_from_{start} PARTITION OF run_values {bounds} {OPTIONS}")
            start = end


def _prove_end(connection: sa.Connection, end: int) -> None:
    """Adds the condition for new rows at once, then reads the existing ones beside their readers and writers."""
    connection.execute(sa.text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
    try:
        connection.execute(
            sa.text(
                "DO $$ BEGIN"
                f" IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = '{FITS}') THEN"
                f" ALTER TABLE run_values ADD CONSTRAINT {FITS} CHECK (run_id < {end}) NOT VALID; END IF; END $$"
            )
        )
    finally:
        connection.execute(sa.text("RESET lock_timeout"))
    connection.execute(sa.text(f"ALTER TABLE run_values VALIDATE CONSTRAINT {FITS}"))
