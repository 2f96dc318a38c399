"""Keep canaries: versions that take a share of calls, and how these went."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0026"
# Older code gives all calls to the published version, which stays right while a canary runs.
oldest_code = "0026"


def upgrade() -> None:
    op.create_table(
        "workflow_canaries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("old_version_id", sa.Integer(), nullable=False),
        sa.Column("new_version_id", sa.Integer(), nullable=False),
        sa.Column("old_number", sa.Integer(), nullable=False),
        sa.Column("new_number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="running", nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("evidence", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("counted_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("judged_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.String(length=32), nullable=True),
        sa.Column("explanation", sa.String(), nullable=True),
        sa.Column("started_by", sa.Integer(), nullable=True),
        sa.Column("ended_by", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("looked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('running','rolled_back','rolled_forward')", name=op.f("ck_workflow_canaries_state")
        ),
        sa.CheckConstraint("share BETWEEN 1 AND 50", name=op.f("ck_workflow_canaries_share")),
        *_references(
            "workflow_canaries",
            ("organization_id", "organizations.id", "CASCADE"),
            ("workflow_id", "workflows.id", "CASCADE"),
            ("old_version_id", "workflow_versions.id", "CASCADE"),
            ("new_version_id", "workflow_versions.id", "CASCADE"),
            ("started_by", "users.id", "SET NULL"),
            ("ended_by", "users.id", "SET NULL"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_canaries")),
    )
    op.create_index("ix_workflow_canaries_workflow", "workflow_canaries", ["organization_id", "workflow_id", "id"])
    op.create_index(
        "uq_workflow_canaries_running",
        "workflow_canaries",
        ["workflow_id"],
        unique=True,
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "canary_calls",
        sa.Column("canary_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.Column("is_earlier", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("caller_key", sa.BigInteger(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("is_success", sa.Boolean(), nullable=True),
        sa.Column("has_failed", sa.Boolean(), nullable=True),
        sa.Column("has_complained", sa.Boolean(), nullable=True),
        sa.Column("seconds", sa.Numeric(precision=10, scale=3), nullable=True),
        sa.Column("answer_ms", sa.Integer(), nullable=True),
        sa.Column("cost_cents", sa.Integer(), nullable=True),
        *_references(
            "canary_calls",
            ("canary_id", "workflow_canaries.id", "CASCADE"),
            ("run_id", "runs.id", "CASCADE"),
            ("organization_id", "organizations.id", "CASCADE"),
        ),
        sa.PrimaryKeyConstraint("canary_id", "run_id", name=op.f("pk_canary_calls")),
    )
    op.create_index("ix_canary_calls_run", "canary_calls", ["run_id"])
    op.create_index(
        "ix_canary_calls_open", "canary_calls", ["canary_id", "run_id"], postgresql_where=sa.text("position IS NULL")
    )
    op.create_index(
        "ix_canary_calls_counted",
        "canary_calls",
        ["canary_id", "position"],
        postgresql_where=sa.text("position > 0"),
    )
    op.create_index(
        "ix_canary_calls_caller",
        "canary_calls",
        ["canary_id", "caller_key"],
        postgresql_where=sa.text("caller_key IS NOT NULL"),
    )


def _references(table: str, *columns: tuple[str, str, str]) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_{table}_{column}"), ondelete=on_delete)
        for column, target, on_delete in columns
    ]
