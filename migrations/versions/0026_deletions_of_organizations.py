"""Close organizations, and keep the receipts of their deletion."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0026"
down_revision = "0025"
oldest_code = "0021"


def upgrade() -> None:
    op.add_column("organizations", sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "organization_deletions",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("requested_by", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="waiting", nullable=False),
        sa.Column("step", sa.String(length=32), nullable=True),
        sa.Column("counts", postgresql.JSONB(), nullable=True),
        sa.Column("books", postgresql.JSONB(), nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organization_deletions")),
        sa.UniqueConstraint("organization_id", name=op.f("uq_organization_deletions_organization_id")),
    )
    op.create_index(
        "ix_organization_deletions_open", "organization_deletions", ["id"], postgresql_where=sa.text("state <> 'done'")
    )
