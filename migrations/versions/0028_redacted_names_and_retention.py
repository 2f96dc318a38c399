"""Store the names that are redacted, and how long agents' calls, contacts and audit entries are kept."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
oldest_code = "0026"


def upgrade() -> None:
    op.add_column(
        "privacy_settings",
        sa.Column("redacted_names", sa.ARRAY(sa.String(length=100)), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column("privacy_settings", sa.Column("contacts_days", sa.Integer(), nullable=True))
    op.add_column("privacy_settings", sa.Column("audit_days", sa.Integer(), nullable=True))
    op.add_column("campaigns", sa.Column("contacts_removed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "agent_retention",
        sa.Column("workflow_id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("recordings_days", sa.Integer(), nullable=True),
        sa.Column("transcripts_days", sa.Integer(), nullable=True),
        sa.Column("runs_days", sa.Integer(), nullable=True),
        sa.Column("recordings_swept_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("transcripts_swept_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("runs_swept_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_agent_retention_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("fk_agent_retention_workflow_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workflow_id", name=op.f("pk_agent_retention")),
    )
    op.create_table(
        "audit_checkpoints",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("last_position", sa.BigInteger(), nullable=False),
        sa.Column("last_seal", sa.LargeBinary(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=False),
        sa.Column("trimmed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_audit_checkpoints_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_audit_checkpoints")),
    )
