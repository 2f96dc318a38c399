"""The job that deletes old events; ``delivery`` has the jobs that deliver them."""

from datetime import timedelta

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.webhooks import repository

SWEEP_INTERVAL_S = 60.0
PRUNE_INTERVAL_S = 3600.0
EVENT_RETENTION = timedelta(days=30)


async def prune_events(db: Database, clock: Clock, _: JsonObject) -> None:
    """Handles the job ``webhook.prune``: deletes old events with their deliveries."""
    async with db.transaction() as session:
        await repository.delete_events_before(session, clock.now() - EVENT_RETENTION)
