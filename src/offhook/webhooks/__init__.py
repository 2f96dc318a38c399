"""Webhooks: signed notifications to customers' servers, numbered in order and retried until delivered."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.webhooks import endpoints
from offhook.webhooks.delivery import WebhookDeliverer
from offhook.webhooks.tasks import add_jobs

__all__ = ["register"]


def register(root: Root) -> None:
    """Registers the routes and the delivery jobs."""
    deliverer = WebhookDeliverer(root.db, root.clock, root.get(Keyring), root.get(EgressClient))
    root.provide(WebhookDeliverer, deliverer)
    add_jobs(root, deliverer)
    root.api.include_router(endpoints.router)
    root.api.include_router(endpoints.events_router)
