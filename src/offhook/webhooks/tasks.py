"""The jobs of webhooks: an attempt, the search for lost ones, and forgetting."""

from datetime import timedelta
from typing import Any

from sqlalchemy import delete

from offhook.jobs.registry import Handler
from offhook.root import Root
from offhook.webhooks.delivery import Deliverer
from offhook.webhooks.service import DELIVER
from offhook.webhooks.tables import WebhookEvent

SWEEP_EVERY_S = 60.0
PRUNE_EVERY_S = 3600.0
KEEP = timedelta(days=30)


def add_jobs(root: Root, deliverer: Deliverer) -> None:
    root.jobs.add(DELIVER, deliverer.handle)
    root.jobs.add("webhook.sweep", deliverer.sweep, every_s=SWEEP_EVERY_S)
    root.jobs.add("webhook.prune", _prune(root), every_s=PRUNE_EVERY_S)


def _prune(root: Root) -> Handler:
    async def prune(_: dict[str, Any]) -> None:
        """Events take their deliveries with them, and these their attempts."""
        async with root.db.transaction() as session:
            await session.execute(delete(WebhookEvent).where(WebhookEvent.created_at < root.clock.now() - KEEP))

    return prune
