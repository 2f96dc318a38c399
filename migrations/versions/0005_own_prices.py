"""own prices."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "own_prices",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("model", sa.String(length=64), nullable=False),
        sa.Column("valid_from", sa.Date(), nullable=False),
        sa.Column("dollars", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("step", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_own_prices_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "kind", "provider", "model", "valid_from", name=op.f("pk_own_prices")
        ),
    )
