"""Usage: what runs used and cost, summed as they end, and the prepaid ledger that pays for them."""

from offhook.root import Root
from offhook.usage import endpoints
from offhook.usage.accounts import CreditService

__all__ = ["register"]


def register(root: Root) -> None:
    """Registers the routes of usage and billing."""
    root.provide(CreditService, CreditService(root.db))
    root.api.include_router(endpoints.router)
    root.api.include_router(endpoints.superuser_router)
