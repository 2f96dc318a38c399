"""Chain audit entries by hash."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("audit_entries", sa.Column("position", sa.BigInteger(), nullable=True))
    op.add_column("audit_entries", sa.Column("previous_seal", sa.LargeBinary(), nullable=True))
    op.add_column("audit_entries", sa.Column("seal", sa.LargeBinary(), nullable=True))
    op.create_index(
        "ix_audit_entries_unsealed",
        "audit_entries",
        ["organization_id", "id"],
        unique=False,
        postgresql_where=sa.text("seal IS NULL"),
    )
    op.create_index(
        "uq_audit_entries_position",
        "audit_entries",
        ["organization_id", "position"],
        unique=True,
        postgresql_where=sa.text("position IS NOT NULL"),
        postgresql_nulls_not_distinct=True,
    )
    op.create_check_constraint(
        op.f("ck_audit_entries_sealed_as_a_whole"),
        "audit_entries",
        "num_nulls(position, previous_seal, seal) IN (0, 3)",
    )
