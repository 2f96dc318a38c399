"""Store where carriers reach each process past the balancer."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
# Older code neither reads nor writes the column.
oldest_code = "0021"


def upgrade() -> None:
    op.add_column("nodes", sa.Column("public_url", sa.String(length=255), nullable=True))
