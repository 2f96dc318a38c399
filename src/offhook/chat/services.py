"""The services of text chats, built once per process by ``register``, as one dependency of requests."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.chat.service import TextChatService
from offhook.chat.turn_replay import TurnReplayer
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class ChatServices:
    """What talks by text: chats, and turns of any conversation that are played again."""

    conversations: TextChatService
    replayer: TurnReplayer


Chats = Annotated[ChatServices, Depends(use_service(ChatServices))]
