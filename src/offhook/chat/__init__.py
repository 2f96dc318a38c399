"""Text chats: the same agents without audio."""

from offhook.chat import endpoints
from offhook.chat.service import TextChatService
from offhook.root import Root
from offhook.runs import RunServices


def register(root: Root) -> None:
    """Registers the text chat endpoints with the process."""
    chats = TextChatService(
        db=root.db,
        events=root.events,
        clock=root.clock,
        agents=root.get(RunServices).agents,
        max_turns=root.settings.max_chat_turns,
    )
    root.provide(TextChatService, chats)
    root.api.include_router(endpoints.router)
