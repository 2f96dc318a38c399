"""Limits of API keys, and support access."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "api_keys",
        sa.Column(
            "scopes", sa.ARRAY(sa.String(length=16)), server_default=sa.text("'{read,call,manage}'"), nullable=False
        ),
    )
    op.add_column(
        "api_keys",
        sa.Column("networks", sa.ARRAY(sa.String(length=64)), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column("api_keys", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "organizations", sa.Column("support_may_write", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
