"""Webhook jobs: delivery attempts, the search for lost deliveries, and the deletion of old events."""

from datetime import timedelta

from offhook.kit.json_values import JsonObject
from offhook.root import Root
from offhook.webhooks import repository
from offhook.webhooks.delivery import WebhookDeliverer
from offhook.webhooks.service import DELIVER_JOB

SWEEP_INTERVAL_S = 60.0
PRUNE_INTERVAL_S = 3600.0
EVENT_RETENTION = timedelta(days=30)


def add_jobs(root: Root, deliverer: WebhookDeliverer) -> None:
    """Registers the webhook jobs."""

    async def prune_events(_: JsonObject) -> None:
        async with root.db.transaction() as session:
            await repository.delete_events_before(session, root.clock.now() - EVENT_RETENTION)

    root.jobs.add(DELIVER_JOB, deliverer.handle_job)
    root.jobs.add("webhook.sweep", deliverer.sweep_overdue, every_s=SWEEP_INTERVAL_S)
    root.jobs.add("webhook.prune", prune_events, every_s=PRUNE_INTERVAL_S)
