"""Text chats: the same agents without audio."""

from offhook.chat import endpoints, replay_endpoints
from offhook.chat.service import TextChatService
from offhook.chat.services import ChatServices
from offhook.chat.turn_replay import TurnReplayer
from offhook.models.prices import BillingPolicy
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
    replayer = TurnReplayer(
        db=root.db,
        clock=root.clock,
        agents=root.get(RunServices).agents,
        billing=root.get(BillingPolicy),  # type: ignore[type-abstract]  # found by its port
    )
    root.provide(ChatServices, ChatServices(chats, replayer))
    root.api.include_router(endpoints.router)
    root.api.include_router(replay_endpoints.router)
