"""The job that keeps the list of nodes short."""

from datetime import timedelta
from typing import Final

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.nodes import repository

# How long a node that stopped without a word is shown.
KEEP_LOST: Final = timedelta(hours=1)


async def forget_lost_nodes(db: Database, _: JsonObject) -> None:
    """Handles the job ``nodes.forget``."""
    async with db.transaction() as session:
        await repository.remove_silent_nodes(session, KEEP_LOST)
