"""Store what an organization redacts in what is said on its calls."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column(
        "privacy_settings",
        sa.Column("redacted_kinds", sa.ARRAY(sa.String(length=16)), server_default=sa.text("'{}'"), nullable=False),
    )
