"""Keep with the installation where its files are, so that a process with another storage does not start."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
# Older code does not look at it.
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("installation", sa.Column("storage", sa.String(1024), nullable=True))
