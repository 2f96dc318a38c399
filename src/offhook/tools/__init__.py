"""Tools: outside functions that agents may call, and the credentials that they send."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.tools import endpoints
from offhook.tools.ports import find_no_references
from offhook.tools.request_slots import RequestSlots
from offhook.tools.services import ToolServices
from offhook.tools.tool_runner import ToolRunner

__all__ = ["ToolRunner", "ToolServices", "register"]


def register(root: Root) -> None:
    """Registers the routes and the tool runner; the workflows domain replaces the finder."""
    keyring = root.get(Keyring)
    slots = RequestSlots(per_organization=root.settings.org_open_requests, per_host=root.settings.host_open_requests)
    runner = ToolRunner(root.db, root.get(EgressClient), keyring, slots)
    root.provide(ToolServices, ToolServices(runner, keyring, find_no_references))
    root.api.include_router(endpoints.tools_router)
    root.api.include_router(endpoints.credentials_router)
