"""Add the recordings that wait for upload on each machine: how many, how large, since when, and why."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
# Older code leaves it empty.
oldest_code = "0026"


def upgrade() -> None:
    op.create_table(
        "recording_spools",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("node_id", sa.String(64), nullable=False),
        sa.Column("place", sa.String(512), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("oldest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.String(500), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recording_spools")),
    )
