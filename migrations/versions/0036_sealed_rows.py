"""Let summaries, reviews and bodies of webhooks be encrypted with the key of their organization."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
# Older code reads the plain columns. Nothing is encrypted while such a process is heard.
oldest_code = "0026"

_TABLES = ("webhook_events", "node_webhook_deliveries", "run_analyses", "run_reviews")


def upgrade() -> None:
    op.add_column(
        "nodes", sa.Column("reads_sealed_rows", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    for table in _TABLES:
        op.add_column(table, sa.Column("key_number", sa.Integer(), nullable=True))
        op.add_column(table, sa.Column("sealed", sa.LargeBinary(), nullable=True))
