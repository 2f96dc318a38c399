"""Store the addresses that voice packs come from."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024"
down_revision = "0023"
oldest_code = "0021"


def upgrade() -> None:
    op.create_table(
        "voice_mirrors",
        sa.Column("id", sa.Integer(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.Column("addresses", postgresql.JSONB(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_voice_mirrors_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_voice_mirrors")),
    )
