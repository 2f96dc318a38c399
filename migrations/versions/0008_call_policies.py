"""Store where calls may go and which callers are refused."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "blocked_callers",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("phone_number", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_blocked_callers_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blocked_callers")),
        sa.UniqueConstraint(
            "organization_id", "phone_number", name=op.f("uq_blocked_callers_organization_id_phone_number")
        ),
    )
    op.create_table(
        "call_policies",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("countries", sa.ARRAY(sa.String(length=2)), nullable=True),
        sa.Column("allows_premium", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("allows_satellite", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("allows_high_risk", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("max_cents_per_minute", sa.Numeric(precision=10, scale=4), nullable=True),
        sa.Column("max_live_calls_per_caller", sa.Integer(), nullable=True),
        sa.Column("max_hourly_calls_per_caller", sa.Integer(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_call_policies_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_call_policies")),
    )
