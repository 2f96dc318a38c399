"""recordings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "workflow_recordings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("recording_id", sa.String(length=64), nullable=False),
        sa.Column("workflow_id", sa.Integer(), nullable=True),
        sa.Column("tts_provider", sa.String(length=64), nullable=True),
        sa.Column("tts_model", sa.String(length=128), nullable=True),
        sa.Column("tts_voice_id", sa.String(length=128), nullable=True),
        sa.Column("transcript", sa.String(), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.Column(
            "metadata", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False
        ),
        sa.Column("duration_s", sa.Numeric(precision=8, scale=3), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_workflow_recordings_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["workflows.id"], name=op.f("fk_workflow_recordings_workflow_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_recordings")),
        sa.UniqueConstraint(
            "organization_id", "recording_id", name=op.f("uq_workflow_recordings_organization_id_recording_id")
        ),
    )
    op.create_index("ix_workflow_recordings_storage_key", "workflow_recordings", ["storage_key"], unique=False)
    op.create_index("ix_workflow_recordings_workflow", "workflow_recordings", ["workflow_id"], unique=False)
