"""Bind a carrier's call to one run."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # Of several runs that have one call, the first one keeps it.
    op.execute(
        "UPDATE runs SET call_id = NULL WHERE call_id IS NOT NULL AND EXISTS (SELECT FROM runs AS first"
        " WHERE first.call_id = runs.call_id AND first.mode = runs.mode"
        " AND first.organization_id = runs.organization_id AND first.id < runs.id)"
    )
    op.create_index(
        "uq_runs_call_id",
        "runs",
        ["call_id", "mode", "organization_id"],
        unique=True,
        postgresql_where=sa.text("call_id IS NOT NULL"),
    )
    op.drop_index("ix_runs_call_id", table_name="runs")
