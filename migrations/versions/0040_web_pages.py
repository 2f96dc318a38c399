"""Let documents be web pages: their address, what is read from it next, and how the last reading went."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
# Older code does not list a page that was never read, and leaves one that is being read to the sweep of newer code.
oldest_code = "0026"


COLUMNS = (
    sa.Column("address", sa.String(4096), nullable=True),
    sa.Column("next_content_id", sa.Integer(), nullable=True),
    sa.Column("reading_since", sa.DateTime(timezone=True), nullable=True),
    sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
    sa.Column("read_error_code", sa.String(64), nullable=True),
    sa.Column("read_error", sa.String(), nullable=True),
)


def upgrade() -> None:
    op.alter_column("knowledge_documents", "content_id", nullable=True)
    # An attempt that was interrupted has committed the columns already: the indexes are built afterwards, beside requests.
    for column in COLUMNS:
        op.add_column("knowledge_documents", column, if_not_exists=True)
    with op.get_context().autocommit_block():
        for name in ("next_content_id", "reading_since"):
            index = f"ix_knowledge_documents_{name}"
            # What was interrupted is not valid.
            op.drop_index(index, postgresql_concurrently=True, if_exists=True)
            op.create_index(
                index,
                "knowledge_documents",
                [name],
                postgresql_where=sa.text("reading_since IS NOT NULL"),
                postgresql_concurrently=True,
            )
