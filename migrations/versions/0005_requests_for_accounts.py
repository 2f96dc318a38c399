"""Requests for accounts, and links that set a password."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "signup_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column("organization_name", sa.String(length=200), nullable=True),
        sa.Column("ip", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signup_requests")),
    )
    op.create_index(
        "uq_signup_requests_email_lower", "signup_requests", [sa.literal_column("lower(email)")], unique=True
    )
    op.add_column(
        "sign_in_links", sa.Column("sets_password", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("sign_in_links", sa.Column("created_by", sa.Integer(), nullable=True))
    op.create_foreign_key(
        op.f("fk_sign_in_links_created_by"), "sign_in_links", "users", ["created_by"], ["id"], ondelete="SET NULL"
    )
