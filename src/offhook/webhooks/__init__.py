"""Webhooks: signed notifications to customers' servers, numbered in order and retried until delivered."""

from functools import partial

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.webhooks import endpoints, service, tasks
from offhook.webhooks.delivery import WebhookDeliverer
from offhook.webhooks.services import WebhookServices

__all__ = ["WebhookServices", "register"]


def register(root: Root) -> None:
    """Registers the routes and the delivery jobs."""
    keyring, egress = root.get(Keyring), root.get(EgressClient)
    deliverer = WebhookDeliverer(root.db, root.clock, keyring, egress)
    root.provide(WebhookServices, WebhookServices(deliverer, keyring, egress))
    root.jobs.add(service.DELIVER_JOB, deliverer.handle_job, lane="requests")
    root.jobs.add("webhook.sweep", deliverer.sweep_overdue, every_s=tasks.SWEEP_INTERVAL_S)
    prune = partial(tasks.prune_events, root.db, root.clock)
    root.jobs.add("webhook.prune", prune, every_s=tasks.PRUNE_INTERVAL_S)
    root.api.include_router(endpoints.router)
    root.api.include_router(endpoints.events_router)
