"""Let states of text chats, notes on runs and answers of endpoints be encrypted with the key of their organization."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
# Older code reads the plain columns. Nothing is encrypted while such a process is heard.
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("nodes", sa.Column("sealed_level", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column("webhook_attempts", sa.Column("key_number", sa.Integer(), nullable=True))
    op.add_column("webhook_attempts", sa.Column("sealed", sa.LargeBinary(), nullable=True))
    for name in ("chat", "note"):
        op.add_column("runs", sa.Column(f"{name}_key_number", sa.Integer(), nullable=True))
        op.add_column("runs", sa.Column(f"sealed_{name}", sa.LargeBinary(), nullable=True))
