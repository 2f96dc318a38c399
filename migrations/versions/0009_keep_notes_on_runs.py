"""Keep notes on runs, and find runs by their tags."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("runs", sa.Column("note", sa.Text(), nullable=True))
    op.create_index("ix_runs_tags", "runs", ["tags"], unique=False, postgresql_using="gin")
