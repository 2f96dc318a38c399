"""Tools: outside functions that agents may call, and the credentials that they send."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.tools import endpoints
from offhook.tools.ports import NoWorkflows, ReferenceFinder
from offhook.tools.tool_runner import ToolRunner

__all__ = ["ReferenceFinder", "ToolRunner", "register"]


def register(root: Root) -> None:
    """Registers the routes and the tool runner; the workflows domain replaces the finder."""
    root.provide(ToolRunner, ToolRunner(root.db, root.get(EgressClient), root.get(Keyring)))
    root.provide(ReferenceFinder, NoWorkflows())  # type: ignore[type-abstract]
    root.api.include_router(endpoints.tools_router)
    root.api.include_router(endpoints.credentials_router)
