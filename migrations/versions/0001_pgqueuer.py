"""The job queue's tables, as PgQueuer 1.6 makes them."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    script = Path(__file__).with_suffix(".sql").read_text()
    for statement in script.split("\n-- next\n")[1:]:
        op.execute(statement)
