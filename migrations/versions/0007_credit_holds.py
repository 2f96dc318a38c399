"""Set money aside for live conversations, limit a day's spend, and charge purchases of numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "credit_holds",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("cents", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_credit_holds_organization_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_credit_holds")),
    )
    op.create_index(
        "ix_credit_holds_org", "credit_holds", ["organization_id"], unique=False, postgresql_include=["cents"]
    )
    op.add_column("billing_accounts", sa.Column("daily_limit_cents", sa.BigInteger(), nullable=True))
    op.add_column("billing_accounts", sa.Column("own_daily_limit_cents", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_ledger_entries_charges",
        "ledger_entries",
        ["organization_id", "created_at"],
        unique=False,
        postgresql_include=["amount_cents"],
        postgresql_where=sa.text("kind = 'charge'"),
    )
    op.add_column(
        "number_purchases", sa.Column("charged_cents", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
