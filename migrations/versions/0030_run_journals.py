"""Keep the journals of calls."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
oldest_code = "0026"


def upgrade() -> None:
    op.create_table(
        "run_journals",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("key_number", sa.Integer(), nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("omitted", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_journals_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_journals")),
    )
    op.create_index("ix_run_journals_key", "run_journals", ["organization_id", "key_number"])
