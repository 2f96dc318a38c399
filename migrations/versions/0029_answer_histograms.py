"""Count answer times by day, agent, model and carrier."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
oldest_code = "0026"


def upgrade() -> None:
    op.create_table(
        "answer_histograms",
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("workflow_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("model", sa.String(length=97), nullable=False),
        sa.Column("carrier", sa.String(length=32), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("counts", sa.ARRAY(sa.Integer()), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_answer_histograms_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "day", "workflow_id", "model", "carrier", name=op.f("pk_answer_histograms")
        ),
    )
