"""Text chats: the same agents without audio."""

from offhook.chat import endpoints
from offhook.chat.service import Chats
from offhook.root import Root


def register(root: Root) -> None:
    """Add the text chat endpoints to the process."""
    root.provide(Chats, Chats(root))
    root.api.include_router(endpoints.router)
