"""Keep what another process needs to go on with a live call."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
oldest_code = "0021"


def upgrade() -> None:
    op.create_table(
        "call_states",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("is_over", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_call_states_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_call_states")),
        # Free space beside each row: it is written again with every turn of its call.
        postgresql_with={"fillfactor": 50},
    )
