"""Bind each number to an account of its organization and kind, and note when a carrier verified an account."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("telephony_configurations", sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True))
    # Accounts from before count as verified, except where organizations name the same one: their carrier is asked
    # again when they are saved.
    op.execute(
        "UPDATE telephony_configurations AS one SET verified_at = now() WHERE one.is_managed OR ("
        " one.account_reference IS NOT NULL AND NOT EXISTS (SELECT FROM telephony_configurations AS other"
        " WHERE other.provider = one.provider AND other.account_reference = one.account_reference"
        " AND other.organization_id <> one.organization_id))"
    )
    # Nobody but the platform can have put numbers on its own account.
    op.execute(
        "DELETE FROM phone_numbers USING telephony_configurations AS account"
        " WHERE account.id = phone_numbers.telephony_configuration_id"
        " AND account.is_managed AND NOT phone_numbers.is_managed"
    )
    op.create_unique_constraint(
        "uq_telephony_configurations_owner", "telephony_configurations", ["id", "organization_id", "is_managed"]
    )
    op.drop_constraint("fk_phone_numbers_telephony_configuration_id", "phone_numbers", type_="foreignkey")
    op.create_foreign_key(
        "fk_phone_numbers_account",
        "phone_numbers",
        "telephony_configurations",
        ["telephony_configuration_id", "organization_id", "is_managed"],
        ["id", "organization_id", "is_managed"],
        ondelete="CASCADE",
    )
