"""Keep the checks of placed calls."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column(
        "runs", sa.Column("placement", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True)
    )
