"""Let each organization buy its numbers in a sub-account of the platform's carrier account."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
# Older code knows one managed account per organization. There is a second one only after the operator has turned
# sub-accounts on, which docs/telephony.md asks for when every process is new.
oldest_code = "0026"


def upgrade() -> None:
    op.add_column("telephony_configurations", sa.Column("parent_reference", sa.String(200), nullable=True))
    op.add_column("number_purchases", sa.Column("telephony_configuration_id", sa.Integer(), nullable=True))
    # One row per account, a few per organization: built within the lock timeout.
    op.create_index(
        "uq_telephony_configurations_sub_account",
        "telephony_configurations",
        ["provider", "account_reference"],
        unique=True,
        postgresql_where=sa.text("parent_reference IS NOT NULL"),
    )
    op.drop_index("uq_telephony_configurations_managed", "telephony_configurations")
    op.create_index(
        "uq_telephony_configurations_managed",
        "telephony_configurations",
        ["organization_id"],
        unique=True,
        postgresql_where=sa.text("is_managed AND parent_reference IS NULL"),
    )
    op.create_table(
        "managed_carrier_settings",
        sa.Column("provider", sa.String(32), nullable=False),
        sa.Column("account_reference", sa.String(200), nullable=False),
        sa.Column("uses_sub_accounts", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("provider", "account_reference", name=op.f("pk_managed_carrier_settings")),
    )
    _create_sub_accounts()


def _create_sub_accounts() -> None:
    op.create_table(
        "carrier_sub_accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(32), nullable=False),
        sa.Column("parent_reference", sa.String(200), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), server_default="creating", nullable=False),
        sa.Column("account_reference", sa.String(200), nullable=True),
        sa.Column("telephony_configuration_id", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(500), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("emptied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_carrier_sub_accounts_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["telephony_configuration_id"],
            ["telephony_configurations.id"],
            name=op.f("fk_carrier_sub_accounts_telephony_configuration_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_carrier_sub_accounts")),
        sa.UniqueConstraint("name", name=op.f("uq_carrier_sub_accounts_name")),
    )
    op.create_index(
        "uq_carrier_sub_accounts_current",
        "carrier_sub_accounts",
        ["organization_id", "provider", "parent_reference"],
        unique=True,
        postgresql_where=sa.text("state IN ('creating', 'active')"),
    )
    op.create_index(
        "ix_carrier_sub_accounts_open", "carrier_sub_accounts", ["id"], postgresql_where=sa.text("state <> 'closed'")
    )
    op.create_index("ix_carrier_sub_accounts_configuration", "carrier_sub_accounts", ["telephony_configuration_id"])
