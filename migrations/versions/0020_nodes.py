"""Store the processes of the installation, and the fingerprint of their common key."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "nodes",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=True),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("call_limit", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("live_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("lateness_ms", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("is_draining", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_accepting", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('serve','worker')", name=op.f("ck_nodes_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_nodes")),
    )
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.Column("key_fingerprint", sa.String(length=64), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_installation_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
