"""The services of webhooks, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import use_service
from offhook.webhooks.delivery import WebhookDeliverer


@dataclass(frozen=True, slots=True)
class WebhookServices:
    """The services that the endpoints and jobs of webhooks use."""

    deliverer: WebhookDeliverer
    keyring: Keyring
    egress: EgressClient


Services = Annotated[WebhookServices, Depends(use_service(WebhookServices))]
