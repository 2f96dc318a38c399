"""Keep results, success and summaries of runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("runs", sa.Column("result", sa.String(length=40), nullable=True))
    op.add_column("runs", sa.Column("is_success", sa.Boolean(), nullable=True))
    op.create_index("ix_runs_org_result", "runs", ["organization_id", "result"], unique=False)
    op.create_index("ix_runs_org_is_success", "runs", ["organization_id", "is_success"], unique=False)
    op.create_index(
        "ix_runs_campaign_results",
        "runs",
        ["organization_id", "campaign_id", "id"],
        unique=False,
        postgresql_include=["result", "is_success"],
        postgresql_where=sa.text("result IS NOT NULL AND campaign_id IS NOT NULL"),
    )
    op.create_index(
        "ix_runs_results",
        "runs",
        ["organization_id", "created_at"],
        unique=False,
        postgresql_include=["workflow_id", "result", "is_success"],
        postgresql_where=sa.text("result IS NOT NULL OR is_success IS NOT NULL"),
    )
    op.create_table(
        "run_analyses",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("judged_by", sa.String(length=16), nullable=True),
        sa.Column("model", sa.String(length=120), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("criteria", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_run_analyses_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_analyses_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_analyses")),
    )
