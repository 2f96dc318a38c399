"""Tools: functions of the outside world that agents may call, and the credentials that they send."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.tools import endpoints
from offhook.tools.ports import NoWorkflows, ReferenceFinder
from offhook.tools.tool_runner import ToolRunner

__all__ = ["ReferenceFinder", "ToolRunner", "register"]


def register(root: Root) -> None:
    """Add the routes and the bench; the workflows domain replaces the finder."""
    root.provide(ToolRunner, ToolRunner(root.db, root.get(EgressClient), root.get(Keyring)))
    root.provide(ReferenceFinder, NoWorkflows())  # type: ignore[type-abstract]
    root.api.include_router(endpoints.tools_router)
    root.api.include_router(endpoints.credentials_router)
