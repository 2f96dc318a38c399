"""words of documents are indexed at once.

The pending list of a GIN index is read by every search, whoever's pieces are in it.
"""

from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.execute("ALTER INDEX ix_knowledge_chunks_words SET (fastupdate = off)")
    op.execute("SELECT gin_clean_pending_list('ix_knowledge_chunks_words')")
