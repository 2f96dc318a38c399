"""The initial schema: one SQL file for each room of the code, in the order in which their foreign keys need them.

Its number is that of the last development schema, so that a database at that one goes on as it is.
"""

import re
from pathlib import Path

from alembic import op

revision = "0026"
down_revision = None
# What code of the development schemas from here on needs is in it.
oldest_code = "0021"

ROOMS = (
    "pgqueuer",
    "jobs",
    "nodes",
    "orgs",
    "workflows",
    "scenarios",
    "models",
    "tools",
    "recordings",
    "knowledge",
    "webhooks",
    "usage",
    "runs",
    "campaigns",
    "telephony",
    "privacy",
)


def upgrade() -> None:
    connection = op.get_bind()
    for room in ROOMS:
        script = (Path(__file__).with_suffix("") / f"{room}.sql").read_text()
        # The driver takes one statement at a time.
        for statement in re.split(r";\n\n(?=CREATE|--)", script):
            connection.exec_driver_sql(statement.strip().removesuffix(";"))
