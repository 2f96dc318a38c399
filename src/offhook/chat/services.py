"""The one service of text chats, built once per process by ``register``, as a dependency of requests."""

from typing import Annotated

from fastapi import Depends

from offhook.chat.service import TextChatService
from offhook.root import use_service

Chats = Annotated[TextChatService, Depends(use_service(TextChatService))]
