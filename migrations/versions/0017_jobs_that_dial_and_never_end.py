"""jobs that dial and never end."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "campaign_dial_passes",
        sa.Column("organization_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("unfinished", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_campaign_dial_passes_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_campaign_dial_passes")),
    )
