"""Webhooks: telling customers' servers what happened, signed, in numbered order, until they have it."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.webhooks import endpoints
from offhook.webhooks.delivery import WebhookDeliverer
from offhook.webhooks.tasks import add_jobs

__all__ = ["register"]


def register(root: Root) -> None:
    """Add the routes and the jobs that deliver."""
    deliverer = WebhookDeliverer(root.db, root.clock, root.get(Keyring), root.get(EgressClient))
    root.provide(WebhookDeliverer, deliverer)
    add_jobs(root, deliverer)
    root.api.include_router(endpoints.router)
    root.api.include_router(endpoints.events_router)
