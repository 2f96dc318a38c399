"""indexes that carry what lists filter by."""

from alembic import op
from sqlalchemy import text

revision = "0009"
down_revision = "0008"

LISTED = ["status", "outcome", "direction", "mode", "duration", "campaign_id", "phone_number", "call_id"]


def upgrade() -> None:
    # A page is sorted by an index-only scan, whatever it is sorted by.
    op.drop_index(op.f("ix_runs_workflow_duration"), table_name="runs")
    op.create_index("ix_runs_org", "runs", ["organization_id", "id"], unique=False)
    op.create_index(
        "ix_runs_org_duration",
        "runs",
        ["organization_id", text("duration DESC NULLS LAST"), text("id DESC")],
        unique=False,
    )
    op.create_index("ix_runs_org_shortest", "runs", ["organization_id", "duration", "id"], unique=False)
    op.drop_index("ix_runs_org_created", table_name="runs")
    op.create_index(
        "ix_runs_org_created",
        "runs",
        ["organization_id", "created_at", "id"],
        unique=False,
        postgresql_include=["workflow_id", *LISTED],
    )
    op.drop_index("ix_runs_workflow_created", table_name="runs")
    op.create_index(
        "ix_runs_workflow_created",
        "runs",
        ["organization_id", "workflow_id", "created_at", "id"],
        unique=False,
        postgresql_include=LISTED,
    )
    # Index-only scans need pages that VACUUM has seen: after a fiftieth of the rows, not after a fifth.
    op.execute(
        "ALTER TABLE runs SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02)"
    )
