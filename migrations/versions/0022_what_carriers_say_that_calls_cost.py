"""what carriers say that calls cost."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("runs", sa.Column("carrier_bill", postgresql.JSONB(astext_type=sa.Text()), nullable=True))
