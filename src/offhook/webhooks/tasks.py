"""The jobs of webhooks: an attempt, the search for lost ones, and forgetting."""

from datetime import timedelta
from typing import Any

from sqlalchemy import delete

from offhook.jobs.registry import JobHandler
from offhook.root import Root
from offhook.webhooks.delivery import WebhookDeliverer
from offhook.webhooks.service import DELIVER_JOB
from offhook.webhooks.tables import WebhookEvent

SWEEP_INTERVAL_S = 60.0
PRUNE_INTERVAL_S = 3600.0
EVENT_RETENTION = timedelta(days=30)


def add_jobs(root: Root, deliverer: WebhookDeliverer) -> None:
    root.jobs.add(DELIVER_JOB, deliverer.handle_job)
    root.jobs.add("webhook.sweep", deliverer.sweep_overdue, every_s=SWEEP_INTERVAL_S)
    root.jobs.add("webhook.prune", _prune(root), every_s=PRUNE_INTERVAL_S)


def _prune(root: Root) -> JobHandler:
    async def prune(_: dict[str, Any]) -> None:
        """Events take their deliveries with them, and these their attempts."""
        async with root.db.transaction() as session:
            await session.execute(
                delete(WebhookEvent).where(WebhookEvent.created_at < root.clock.now() - EVENT_RETENTION)
            )

    return prune
