"""The initial schema: one SQL file for each room of the code, in the order in which their foreign keys need them."""

import re
from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

ROOMS = (
    "pgqueuer",
    "jobs",
    "orgs",
    "workflows",
    "models",
    "tools",
    "recordings",
    "knowledge",
    "webhooks",
    "usage",
    "runs",
    "campaigns",
    "telephony",
)


def upgrade() -> None:
    connection = op.get_bind()
    for room in ROOMS:
        script = (Path(__file__).with_suffix("") / f"{room}.sql").read_text()
        # The driver takes one statement at a time.
        for statement in re.split(r";\n\n(?=CREATE|--)", script):
            connection.exec_driver_sql(statement.strip().removesuffix(";"))
