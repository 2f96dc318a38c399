"""carrier accounts numbers webhooks transfers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "seen_webhooks",
        sa.Column("nonce_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("nonce_sha256", name=op.f("pk_seen_webhooks")),
    )
    op.create_index(op.f("ix_seen_webhooks_received_at"), "seen_webhooks", ["received_at"], unique=False)
    op.create_table(
        "number_purchases",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("phone_number", sa.String(length=32), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=False),
        sa.Column(
            "request", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'::jsonb"), nullable=False
        ),
        sa.Column("state", sa.String(length=16), server_default="buying", nullable=False),
        sa.Column("carrier_id", sa.String(length=128), nullable=True),
        sa.Column("phone_number_id", sa.Integer(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.String(length=500), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_number_purchases_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_number_purchases")),
    )
    op.create_index(
        "ix_number_purchases_open",
        "number_purchases",
        ["updated_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('buying', 'bought')"),
    )
    op.create_table(
        "sandbox_numbers",
        sa.Column("phone_number", sa.String(length=32), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("carrier_id", sa.String(length=40), nullable=False),
        sa.Column("bought_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_sandbox_numbers_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("phone_number", name=op.f("pk_sandbox_numbers")),
    )
    op.create_index(op.f("ix_sandbox_numbers_organization_id"), "sandbox_numbers", ["organization_id"], unique=False)
    op.create_table(
        "refused_calls",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("telephony_configuration_id", sa.Integer(), nullable=True),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("caller_number", sa.String(length=255), nullable=True),
        sa.Column("called_number", sa.String(length=255), nullable=True),
        sa.Column("workflow_id", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("message", sa.String(length=500), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_refused_calls_organization_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["telephony_configuration_id"],
            ["telephony_configurations.id"],
            name=op.f("fk_refused_calls_telephony_configuration_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refused_calls")),
        sa.UniqueConstraint(
            "organization_id", "provider", "call_id", name=op.f("uq_refused_calls_organization_id_provider_call_id")
        ),
    )
    op.create_index("ix_refused_calls_list", "refused_calls", ["organization_id", "id"], unique=False)
    op.create_table(
        "phone_numbers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("telephony_configuration_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=False),
        sa.Column("address_normalized", sa.String(length=255), nullable=False),
        sa.Column("address_type", sa.String(length=16), nullable=False),
        sa.Column("country_code", sa.String(length=2), nullable=True),
        sa.Column("label", sa.String(length=64), nullable=True),
        sa.Column("inbound_workflow_id", sa.Integer(), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("is_default_caller_id", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "extra_metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("is_managed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_primary", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("existing_number", sa.String(length=32), nullable=True),
        sa.Column("carrier_id", sa.String(length=128), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["inbound_workflow_id"],
            ["workflows.id"],
            name=op.f("fk_phone_numbers_inbound_workflow_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organizations.id"], name=op.f("fk_phone_numbers_organization_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["telephony_configuration_id"],
            ["telephony_configurations.id"],
            name=op.f("fk_phone_numbers_telephony_configuration_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phone_numbers")),
        sa.UniqueConstraint(
            "telephony_configuration_id",
            "address_normalized",
            name=op.f("uq_phone_numbers_telephony_configuration_id_address_normalized"),
        ),
    )
    op.create_index("ix_phone_numbers_address", "phone_numbers", ["address_normalized"], unique=False)
    op.create_index(
        op.f("ix_phone_numbers_inbound_workflow_id"), "phone_numbers", ["inbound_workflow_id"], unique=False
    )
    op.create_index("ix_phone_numbers_organization", "phone_numbers", ["organization_id", "id"], unique=False)
    op.create_index(
        "uq_phone_numbers_default_caller",
        "phone_numbers",
        ["telephony_configuration_id"],
        unique=True,
        postgresql_where=sa.text("is_default_caller_id"),
    )
    op.create_index(
        "uq_phone_numbers_primary",
        "phone_numbers",
        ["organization_id"],
        unique=True,
        postgresql_where=sa.text("is_primary"),
    )
    op.create_table(
        "pending_transfers",
        sa.Column("transfer_id", sa.String(length=64), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("telephony_configuration_id", sa.Integer(), nullable=True),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("to_number", sa.String(length=32), nullable=False),
        sa.Column("destination_id", sa.String(length=128), nullable=True),
        sa.Column("conference_id", sa.String(length=128), nullable=True),
        sa.Column("state", sa.String(length=16), server_default="ringing", nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_pending_transfers_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_pending_transfers_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("transfer_id", name=op.f("pk_pending_transfers")),
    )
    op.create_index(op.f("ix_pending_transfers_created_at"), "pending_transfers", ["created_at"], unique=False)
    op.create_index(op.f("ix_pending_transfers_run_id"), "pending_transfers", ["run_id"], unique=False)
    op.add_column("telephony_configurations", sa.Column("secrets", sa.LargeBinary(), nullable=True))
    op.add_column("telephony_configurations", sa.Column("account_reference", sa.String(length=200), nullable=True))
    op.add_column(
        "telephony_configurations",
        sa.Column("is_managed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.add_column("telephony_configurations", sa.Column("inactive_since", sa.DateTime(timezone=True), nullable=True))
    op.add_column("telephony_configurations", sa.Column("inactive_reason", sa.String(length=500), nullable=True))
    op.add_column(
        "telephony_configurations",
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.create_index(
        "ix_telephony_configurations_account",
        "telephony_configurations",
        ["provider", "account_reference"],
        unique=False,
    )
    op.create_index(
        "uq_telephony_configurations_managed",
        "telephony_configurations",
        ["organization_id"],
        unique=True,
        postgresql_where=sa.text("is_managed"),
    )
