"""Request and response bodies of text chats."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, StringConstraints

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema
from offhook.runs.schemas import InitialContext, RunName

ChatText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class StartChatRequest(Schema):
    """``start_node_id``: starts the chat at this step instead of the first one, with the variables of
    ``initial_context``."""

    name: RunName | None = None
    initial_context: InitialContext = Field(default_factory=dict)
    start_node_id: str | None = Field(default=None, min_length=1, max_length=200, pattern=r"^[^\x00]*$")


class ChatMessageRequest(Schema):
    """``expected_revision``: returns 409 if the chat is at another revision; without it, the message is always
    accepted."""

    text: ChatText
    expected_revision: WholeNumber | None = Field(default=None, ge=0)


class RewindChatRequest(Schema):
    """``cursor_turn_id``: the last turn that counts; null returns to the latest one."""

    cursor_turn_id: str | None = Field(default=None, max_length=64)
    expected_revision: WholeNumber | None = Field(default=None, ge=0)


class EndChatRequest(Schema):
    expected_revision: WholeNumber | None = Field(default=None, ge=0)


class ChatMessage(Schema):
    role: Literal["caller", "agent"]
    text: str
    created_at: datetime


class ChatWords(Schema):
    text: str
    created_at: datetime


class ChatTurn(Schema):
    """What was said between two messages of the person, and the agent's state afterwards."""

    id: str
    status: Literal["completed"]
    user_message: ChatWords | None
    assistant_message: ChatWords | None
    messages: list[ChatMessage]
    node_id: str
    variables: Mapping[str, object]
    created_at: datetime


class ChatSessionData(Schema):
    """``turns`` behind ``cursor_turn_id`` do not count; with the next message they move to ``discarded_future``."""

    version: int
    status: Literal["idle", "pending_assistant_turn", "rewound", "completed"]
    cursor_turn_id: str | None
    turns: list[ChatTurn]
    discarded_future: list[ChatTurn]


class TextChat(Schema):
    """A complete chat. ``status`` is its run's; ``revision`` counts changes; ``is_answering``: a reply is in progress;
    ``messages`` leaves out those that were rewound."""

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
    session_data: ChatSessionData
    created_at: datetime
    ended_at: datetime | None


class ReplayedEdge(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: str
    label: str
    source: str
    target: str


class ReplayedToolCall(Schema):
    """``is_ok`` is null if the tool had not answered when the turn ended."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    arguments: JsonValue
    is_ok: bool | None
    error: str | None


class ReplayedOutcome(Schema):
    """The outcome of a turn: ``steps`` that were entered, ``values`` that were extracted, and ``failure``, the error
    of a model that failed."""

    model_config = ConfigDict(from_attributes=True)

    answer: str
    edges: list[ReplayedEdge]
    steps: list[str]
    tools: list[ReplayedToolCall]
    values: Mapping[str, JsonValue]
    end_reason: str | None
    failure: str | None


class TurnReplayResponse(Schema):
    """One turn as it was (``recorded``) and with the draft (``replayed``). ``version_number`` is the draft's, or the published
    version's where there is no draft."""

    turn: int
    heard: str
    step: str
    version_number: int
    recorded: ReplayedOutcome
    replayed: ReplayedOutcome
    is_same_path: bool
    is_same_answer: bool
