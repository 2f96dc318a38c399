"""Play scenarios with a vendor's or recorded answers, and keep what is recorded."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0035"
down_revision = "0034"
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("scenario_plays", sa.Column("answers", sa.String(8), server_default="built-in", nullable=False))
    op.add_column("scenario_plays", sa.Column("records", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column(
        "scenario_plays", sa.Column("cost_budget_cents", sa.Integer(), server_default=sa.text("100"), nullable=False)
    )
    op.add_column("scenario_plays", sa.Column("cost_cents", sa.Numeric(14, 8), nullable=True))
    op.add_column("scenario_plays", sa.Column("usage", postgresql.JSONB(), nullable=True))
    op.create_check_constraint(
        "ck_scenario_plays_answers", "scenario_plays", "answers IN ('built-in','recorded','live')"
    )
    op.create_table(
        "scenario_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("occurrence", sa.Integer(), nullable=False),
        sa.Column("asked", sa.String(200), nullable=False),
        sa.Column("model", postgresql.JSONB(), nullable=False),
        sa.Column("key_number", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_scenario_answers_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("fk_scenario_answers_workflow_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scenario_answers")),
        sa.UniqueConstraint(
            "workflow_id",
            "request_hash",
            "occurrence",
            name=op.f("uq_scenario_answers_workflow_id_request_hash_occurrence"),
        ),
    )
    op.create_index("ix_scenario_answers_key", "scenario_answers", ["organization_id", "key_number"])
