"""Play scenarios as text or with sound."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("scenario_plays", sa.Column("mode", sa.String(8), server_default="text", nullable=False))
    op.create_check_constraint("ck_scenario_plays_mode", "scenario_plays", "mode IN ('text','sound')")
