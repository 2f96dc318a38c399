"""Sums by day and by agent are read from the indexes of the primary keys alone."""

from alembic import op

revision = "0027"
down_revision = "0026"

_KEYS = {
    "usage_buckets": ("organization_id, bucket_at", "calls, duration_ms, cost_cents"),
    "outcome_buckets": ("organization_id, bucket_at, outcome", "calls"),
    "agent_days": ("organization_id, day, workflow_id, outcome", "calls, duration_ms, cost_cents"),
}


def upgrade() -> None:
    for table, (key, included) in _KEYS.items():
        # One statement: no moment without the key, and one lock.
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT pk_{table}, "
            f"ADD CONSTRAINT pk_{table} PRIMARY KEY ({key}) INCLUDE ({included})"
        )
