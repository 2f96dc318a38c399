"""Browser test calls: the microphone and the speaker of a web page as a call leg."""

from offhook.browser import endpoints
from offhook.root import Root


def register(root: Root) -> None:
    """Registers the media socket of browser calls with the process."""
    root.api.include_router(endpoints.router)
