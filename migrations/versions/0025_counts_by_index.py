"""Runs are counted by small indexes of one column each, texts in call_id are found in its lower case, answer times in indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

COUNTED = ["status", "outcome", "direction", "mode", "campaign_id"]
LISTED = ["status", "outcome", "direction", "mode", "duration", "campaign_id", "phone_number", "call_id_lower"]
CARRYING = {
    "ix_runs_org_created": (["organization_id", "created_at", "id"], ["workflow_id", *LISTED, "answer_ms"]),
    "ix_runs_workflow_created": (["organization_id", "workflow_id", "created_at", "id"], [*LISTED, "answer_ms"]),
    "ix_runs_created": (["created_at", "id"], ["organization_id", "workflow_id", *LISTED, "call_id"]),
}


def upgrade() -> None:
    op.add_column(
        "runs",
        sa.Column(
            "call_id_lower",
            sa.String(length=128, collation="C"),
            sa.Computed('lower(call_id COLLATE "C")', persisted=True),
        ),
    )
    op.add_column(
        "runs",
        sa.Column("answer_ms", sa.Integer(), sa.Computed("((latency ->> 'p50_ms')::numeric)::integer", persisted=True)),
    )
    for name, (columns, included) in CARRYING.items():
        op.drop_index(name, table_name="runs")
        op.create_index(name, "runs", columns, postgresql_include=included)
    for column in COUNTED:
        op.create_index(f"ix_runs_org_{column}", "runs", ["organization_id", column])
