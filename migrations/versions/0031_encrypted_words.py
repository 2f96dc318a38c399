"""Keep the words of calls encrypted."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("run_events", sa.Column("key_number", sa.Integer(), nullable=True))
    op.add_column("run_events", sa.Column("sealed", sa.LargeBinary(), nullable=True))
    op.add_column("run_texts", sa.Column("key_number", sa.Integer(), nullable=True))
    op.add_column(
        "nodes", sa.Column("reads_encrypted_words", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
