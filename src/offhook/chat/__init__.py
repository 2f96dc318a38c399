"""Text chats: the same agents without audio."""

from offhook.chat import endpoints
from offhook.chat.service import TextChatService
from offhook.root import Root


def register(root: Root) -> None:
    """Registers the text chat endpoints with the process."""
    root.provide(TextChatService, TextChatService(root))
    root.api.include_router(endpoints.router)
