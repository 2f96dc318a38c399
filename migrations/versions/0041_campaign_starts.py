"""Let campaigns start by themselves: when, who set it, and why one did not."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
# Older code starts no draft by itself. It leaves the time with a campaign that is started by hand, where nothing reads it.
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("campaigns", sa.Column("start_set_by", sa.Integer(), nullable=True))
    op.add_column("campaigns", sa.Column("start_set_by_key", sa.Integer(), nullable=True))
    op.add_column("campaigns", sa.Column("start_problem", sa.String(500), nullable=True))
    condition = sa.text("status = 'draft' AND starts_at IS NOT NULL AND start_problem IS NULL")
    op.create_index("ix_campaigns_starts_at", "campaigns", ["starts_at"], postgresql_where=condition)
