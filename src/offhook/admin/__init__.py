"""Superusers' views and actions across organizations."""

from offhook.admin.endpoints import router
from offhook.root import Root

__all__ = ["register"]


def register(root: Root) -> None:
    """Registers the superuser routes."""
    root.api.include_router(router)
