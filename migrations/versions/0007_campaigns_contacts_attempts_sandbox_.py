"""campaigns, contacts, attempts, sandbox calls."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "campaign_dial_buckets",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("tokens", sa.Double(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "account", name=op.f("pk_campaign_dial_buckets")),
    )
    op.create_table(
        "sandbox_calls",
        sa.Column("call_id", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("to_number", sa.String(length=32), nullable=False),
        sa.Column("process", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("dialled_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("call_id", name=op.f("pk_sandbox_calls")),
    )
    op.create_index(op.f("ix_sandbox_calls_dialled_at"), "sandbox_calls", ["dialled_at"], unique=False)
    op.create_index(op.f("ix_sandbox_calls_run_id"), "sandbox_calls", ["run_id"], unique=False)
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("parent_campaign_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="draft", nullable=False),
        sa.Column("failure_reason", sa.String(length=500), nullable=True),
        sa.Column("max_concurrency", sa.Integer(), nullable=False),
        sa.Column("telephony_configuration_id", sa.Integer(), nullable=True),
        sa.Column("contacts_file_key", sa.String(length=300), nullable=True),
        sa.Column(
            "columns", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'::jsonb"), nullable=False
        ),
        sa.Column("calling_hours", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column(
            "retry_config",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("circuit_breaker", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("destinations", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("voicemail", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("spend_cap_cents", sa.Integer(), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("running_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_campaigns_organization_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_campaign_id"], ["campaigns.id"], name=op.f("fk_campaigns_parent_campaign_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("fk_campaigns_workflow_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.create_index("ix_campaigns_org", "campaigns", ["organization_id", "id"], unique=False)
    op.create_index(
        "ix_campaigns_running",
        "campaigns",
        ["organization_id", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_index(op.f("ix_campaigns_workflow_id"), "campaigns", ["workflow_id"], unique=False)
    op.create_table(
        "campaign_contacts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("phone_number", sa.String(length=32), nullable=False),
        sa.Column(
            "variables", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False
        ),
        sa.Column("state", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.Column("dials", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("hold", sa.String(length=64), nullable=True),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_campaign_contacts_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign_contacts")),
    )
    op.create_index(
        "ix_campaign_contacts_due",
        "campaign_contacts",
        ["campaign_id", "due_at", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_campaign_contacts_progress", "campaign_contacts", ["campaign_id", "state", "outcome", "dials"], unique=False
    )
    op.create_index("ix_campaign_contacts_row", "campaign_contacts", ["campaign_id", "row_number"], unique=False)
    op.create_index("uq_campaign_contacts_number", "campaign_contacts", ["campaign_id", "phone_number"], unique=True)
    op.create_table(
        "campaign_attempts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("because", sa.String(length=100), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.Column("reserved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("may_dial_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("check_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_campaign_attempts_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["campaign_contacts.id"], name=op.f("fk_campaign_attempts_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_campaign_attempts_run_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign_attempts")),
    )
    op.create_index(
        "ix_campaign_attempts_ended",
        "campaign_attempts",
        ["campaign_id", "ended_at"],
        unique=False,
        postgresql_include=["outcome"],
    )
    op.create_index(
        "ix_campaign_attempts_open",
        "campaign_attempts",
        ["organization_id", "campaign_id", "check_at"],
        unique=False,
        postgresql_where=sa.text("state <> 'final'"),
    )
    op.create_index(
        "uq_campaign_attempts_live",
        "campaign_attempts",
        ["contact_id"],
        unique=True,
        postgresql_where=sa.text("state <> 'final'"),
    )
    op.create_index("uq_campaign_attempts_number", "campaign_attempts", ["contact_id", "number"], unique=True)
    op.create_index("uq_campaign_attempts_run", "campaign_attempts", ["run_id"], unique=True)
