"""What the endpoints of text chats take and answer."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from offhook.runs.schemas import InitialContext, RunName

ChatText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class StartChatRequest(BaseModel):
    name: RunName | None = None
    initial_context: InitialContext = Field(default_factory=dict)


class ChatMessageRequest(BaseModel):
    """``expected_revision``: refuse (409) when the chat is no longer there; without it the message goes in as it comes."""

    text: ChatText
    expected_revision: int | None = Field(default=None, ge=0)


class ChatMessage(BaseModel):
    role: Literal["caller", "agent"]
    text: str
    created_at: datetime


class TextChat(BaseModel):
    """A whole chat. ``status`` is its run's; ``revision`` counts exchanges; ``is_answering``: a message is on its way."""

    id: int
    workflow_run_id: int
    workflow_run_name: str
    workflow_id: int
    status: str
    outcome: str | None
    end_reason: str | None
    revision: int
    is_answering: bool
    is_over: bool
    messages: list[ChatMessage]
    created_at: datetime
    ended_at: datetime | None
