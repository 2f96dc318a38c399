"""Superusers' views and actions across organizations."""

from offhook.admin import endpoints, node_endpoints
from offhook.root import Root

__all__ = ["register"]


def register(root: Root) -> None:
    """Registers the superuser routes."""
    root.api.include_router(endpoints.router)
    root.api.include_router(node_endpoints.router)
