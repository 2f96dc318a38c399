"""Outcomes by day and by agent, summed as runs end; those that are over are summed here."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

TELL_OUTCOMES = """UPDATE run_usage SET outcome = runs.outcome
FROM runs WHERE runs.id = run_usage.run_id AND runs.outcome IS NOT NULL"""
SUM_OUTCOMES = """INSERT INTO outcome_buckets (organization_id, bucket_at, outcome, calls)
SELECT organization_id, bucket_at, outcome, count(*) FROM run_usage GROUP BY 1, 2, 3"""
SUM_AGENTS = """INSERT INTO agent_days (organization_id, day, workflow_id, outcome, calls, duration_ms, cost_cents)
SELECT organization_id, (bucket_at AT TIME ZONE 'UTC')::date, workflow_id, outcome, count(*), sum(duration_ms), sum(cost_cents)
FROM run_usage GROUP BY 1, 2, 3, 4"""


def upgrade() -> None:
    op.create_table(
        "agent_days",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("cost_cents", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_agent_days_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization_id", "day", "workflow_id", "outcome", name=op.f("pk_agent_days")),
    )
    op.create_table(
        "outcome_buckets",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("bucket_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_outcome_buckets_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "bucket_at", "outcome", name=op.f("pk_outcome_buckets")),
    )
    op.add_column(
        "run_usage", sa.Column("outcome", sa.String(length=32), server_default=sa.text("'unknown'"), nullable=False)
    )
    for statement in (TELL_OUTCOMES, SUM_OUTCOMES, SUM_AGENTS):
        op.execute(statement)
