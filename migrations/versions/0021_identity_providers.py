"""Store identity providers of organizations, identities of members, and sign-ins that wait for a provider.

Older code would take a session of a provider for one of the whole account, so it cannot live with this schema.
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    for table in ("user_sessions", "sign_in_challenges"):
        op.add_column(table, sa.Column("by_provider", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_table(
        "identity_providers",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("sign_in_name", sa.String(length=63), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=True),
        sa.Column("email_domains", sa.ARRAY(sa.String(length=255)), nullable=False),
        sa.Column("joins_as", sa.String(length=16), nullable=True),
        sa.Column("is_required", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_identity_providers_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_identity_providers")),
        sa.UniqueConstraint("sign_in_name", name=op.f("uq_identity_providers_sign_in_name")),
    )
    op.create_table(
        "member_identities",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["members.organization_id", "members.user_id"],
            name=op.f("fk_member_identities_organization_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_member_identities")),
        sa.UniqueConstraint("organization_id", "user_id", name=op.f("uq_member_identities_organization_id_user_id")),
        sa.UniqueConstraint(
            "organization_id", "issuer", "subject", name=op.f("uq_member_identities_organization_id_issuer_subject")
        ),
    )
    op.create_table(
        "provider_sign_in_attempts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("state_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("redirect_uri", sa.String(length=2000), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_provider_sign_in_attempts_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_sign_in_attempts")),
        sa.UniqueConstraint("state_sha256", name=op.f("uq_provider_sign_in_attempts_state_sha256")),
    )
    op.create_index(op.f("ix_provider_sign_in_attempts_expires_at"), "provider_sign_in_attempts", ["expires_at"])
