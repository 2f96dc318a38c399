"""What superusers see and do across organizations."""

from offhook.admin.endpoints import router
from offhook.root import Root

__all__ = ["register"]


def register(root: Root) -> None:
    """Add the superuser's routes."""
    root.api.include_router(router)
