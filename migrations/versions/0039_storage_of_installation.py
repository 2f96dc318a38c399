"""Keep with the installation where its files are, and a name by which its bucket knows it."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
# Older code does not look at it.
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("installation", sa.Column("storage", sa.String(1024), nullable=True))
    # One row: the identity that its default gives it is written at once.
    identity = sa.Column("identity", sa.String(36), server_default=sa.text("(gen_random_uuid())::text"), nullable=False)
    op.add_column("installation", identity)
