"""Let documents be web pages: their address, what is read from it next, and how the last reading went."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
# Older code does not list a page that was never read, and leaves one that is being read to the sweep of newer code.
oldest_code = "0026"


def upgrade() -> None:
    op.alter_column("knowledge_documents", "content_id", nullable=True)
    op.add_column("knowledge_documents", sa.Column("address", sa.String(4096), nullable=True))
    op.add_column("knowledge_documents", sa.Column("next_content_id", sa.Integer(), nullable=True))
    op.add_column("knowledge_documents", sa.Column("reading_since", sa.DateTime(timezone=True), nullable=True))
    op.add_column("knowledge_documents", sa.Column("read_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("knowledge_documents", sa.Column("read_error_code", sa.String(64), nullable=True))
    op.add_column("knowledge_documents", sa.Column("read_error", sa.String(), nullable=True))
    condition = sa.text("reading_since IS NOT NULL")
    for column in ("next_content_id", "reading_since"):
        name = f"ix_knowledge_documents_{column}"
        op.create_index(name, "knowledge_documents", [column], postgresql_where=condition)
