"""Browser test calls: the microphone and the speaker of a web page as a call leg."""

from offhook.browser import endpoints
from offhook.browser.services import BrowserServices
from offhook.root import Root
from offhook.runs import LiveCallRegistry


def register(root: Root) -> None:
    """Registers the media socket of browser calls with the process."""
    live = root.get(LiveCallRegistry)
    live.slots.add_free_modes([endpoints.MODE])
    live.handovers.modes.add(endpoints.MODE)
    live.handovers.page_modes.add(endpoints.MODE)
    services = BrowserServices(live, root.settings.max_socket_message_bytes)
    root.provide(BrowserServices, services)
    root.api.include_router(endpoints.router)
