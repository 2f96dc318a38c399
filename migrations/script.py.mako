"""${message}."""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
# The first revision whose code works with this schema too; without it, only code of this revision or later does.
# oldest_code = ${repr(down_revision)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
