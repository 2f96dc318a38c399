"""What is known about one call, joined into one file."""

from offhook.evidence import endpoints
from offhook.evidence.collector import EvidenceCollector
from offhook.evidence.services import EvidenceServices
from offhook.root import Root
from offhook.runs import RunServices

__all__ = ["EvidenceCollector", "register"]


def register(root: Root) -> None:
    """Registers the route."""
    root.provide(
        EvidenceServices, EvidenceServices(EvidenceCollector(root.db, root.get(RunServices).vault, root.clock))
    )
    root.api.include_router(endpoints.router)
