"""Store the names that an organization redacts in what is said on its calls."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
oldest_code = "0026"


def upgrade() -> None:
    op.add_column(
        "privacy_settings",
        sa.Column("redacted_names", sa.ARRAY(sa.String(length=100)), server_default=sa.text("'{}'"), nullable=False),
    )
