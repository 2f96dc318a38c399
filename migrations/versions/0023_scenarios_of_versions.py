"""Keep the scenarios of an agent with its versions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0020"
# Older code leaves the column alone: what it copies has no scenarios.
oldest_code = "0020"


def upgrade() -> None:
    op.add_column(
        "workflow_versions",
        sa.Column("scenarios", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
    )
