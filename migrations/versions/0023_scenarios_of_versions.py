"""Keep the scenarios of an agent with its versions, and what came of playing them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0022"
# Older code leaves the columns alone: what it copies has no scenarios, and it publishes without asking.
oldest_code = "0021"


def upgrade() -> None:
    op.add_column(
        "workflow_versions",
        sa.Column("scenarios", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
    )
    op.add_column(
        "workflows",
        sa.Column("publish_gate", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
    )
    op.create_table(
        "scenario_plays",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("version_number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="queued", nullable=False),
        sa.Column("scenario_names", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("seeds", postgresql.JSONB(), server_default=sa.text("'[0]'::jsonb"), nullable=False),
        sa.Column("cpu_budget_s", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("done", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("passed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=True),
        sa.Column("result_hash", sa.String(length=64), nullable=True),
        sa.Column("verdict", postgresql.JSONB(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued','running','passed','failed','canceled','out_of_budget','broken')",
            name=op.f("ck_scenario_plays_state"),
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_scenario_plays_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("fk_scenario_plays_workflow_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["workflow_versions.id"], name=op.f("fk_scenario_plays_version_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_scenario_plays_created_by"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scenario_plays")),
    )
    op.create_index("ix_scenario_plays_workflow", "scenario_plays", ["organization_id", "workflow_id", "id"])
    op.create_index(
        "ix_scenario_plays_open",
        "scenario_plays",
        ["organization_id"],
        postgresql_where=sa.text("state IN ('queued','running')"),
    )
    op.create_table(
        "scenario_results",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("play_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("has_passed", sa.Boolean(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("faults", postgresql.JSONB(), nullable=False),
        sa.Column("turns", postgresql.JSONB(), nullable=False),
        sa.Column("outcome", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_scenario_results_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["play_id"], ["scenario_plays.id"], name=op.f("fk_scenario_results_play_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scenario_results")),
        sa.UniqueConstraint("play_id", "seed", "name", name=op.f("uq_scenario_results_play_id_seed_name")),
    )
    op.create_index("ix_scenario_results_organization_id", "scenario_results", ["organization_id"])
