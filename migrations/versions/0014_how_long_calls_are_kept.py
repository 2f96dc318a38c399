"""Store how long an organization keeps what its calls leave."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "privacy_settings",
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
            name=op.f("fk_privacy_settings_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_privacy_settings")),
    )
