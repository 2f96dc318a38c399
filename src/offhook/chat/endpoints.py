"""Text chats with an agent over HTTP."""

from offhook.chat.schemas import ChatMessageRequest, EndChatRequest, RewindChatRequest, StartChatRequest, TextChat
from offhook.chat.services import Chats
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, ReadTransaction, RequireMember
from offhook.runs.chats import chat_turns
from offhook.runs.chats.chat_store import StoredChat

router = Router(prefix="/workflow/{workflow_id}/text-chat/sessions", tags=["text chat"])


def present_chat(chat: StoredChat) -> TextChat:
    """Returns a chat as clients see it."""
    run, state = chat.run, chat.state
    if run.ended_at is not None:
        status = "completed"
    elif state["claim"] is not None:
        status = "pending_assistant_turn"
    else:
        status = "idle" if state["cursor"] is None else "rewound"
    return TextChat.model_validate(
        {
            "id": run.id,
            "workflow_run_id": run.id,
            "workflow_run_name": run.name,
            "workflow_id": run.workflow_id,
            "status": run.status,
            "outcome": run.outcome,
            "end_reason": run.end_reason,
            "revision": state["revision"],
            "is_answering": state["claim"] is not None,
            "is_over": run.ended_at is not None,
            "messages": chat_turns.active_messages(state),
            "session_data": {
                "version": 1,
                "status": status,
                "cursor_turn_id": state["cursor"],
                "turns": [chat_turns.present_turn(turn) for turn in state["turns"]],
                "discarded_future": [chat_turns.present_turn(turn) for turn in state["discarded"]],
            },
            "created_at": run.created_at,
            "ended_at": run.ended_at,
        }
    )


@router.post("", response_model=TextChat, operation_id="start_text_chat", responses=error_responses(504))
async def start_text_chat(
    workflow_id: Id, org: RequireMember, chats: Chats, body: StartChatRequest | None = None
) -> TextChat:
    """Starts a chat on the draft, or on the published version if there is none; returns the agent's first messages."""
    body = body or StartChatRequest()
    chat = await chats.conversations.start(
        org,
        workflow_id,
        name=body.name,
        context=dict(body.initial_context),
        start_node_id=body.start_node_id,
    )
    return present_chat(chat)


@router.get("/{run_id}", response_model=TextChat, operation_id="get_text_chat")
async def get_text_chat(
    workflow_id: Id, run_id: LongId, org: CurrentOrg, _read: ReadTransaction, chats: Chats
) -> TextChat:
    """Returns the complete chat."""
    return present_chat(await chats.conversations.get(org, workflow_id, run_id))


@router.post(
    "/{run_id}/messages", response_model=TextChat, operation_id="send_text_chat_message", responses=error_responses(504)
)
async def send_text_chat_message(
    workflow_id: Id, run_id: LongId, body: ChatMessageRequest, org: RequireMember, chats: Chats
) -> TextChat:
    """Sends a message and returns the complete chat with the agent's reply; 409 with both revisions if the chat has
    changed."""
    return present_chat(
        await chats.conversations.say(org, workflow_id, run_id, body.text, expected_revision=body.expected_revision)
    )


@router.post("/{run_id}/rewind", response_model=TextChat, operation_id="rewind_text_chat")
async def rewind_text_chat(
    workflow_id: Id, run_id: LongId, body: RewindChatRequest, org: RequireMember, chats: Chats
) -> TextChat:
    """Rewinds the chat to a turn and restores its node, variables and history. Later turns stay visible until the next
    message discards them; `cursor_turn_id: null` returns to the last turn."""
    chat = await chats.conversations.rewind(
        org, workflow_id, run_id, body.cursor_turn_id, expected_revision=body.expected_revision
    )
    return present_chat(chat)


@router.post("/{run_id}/end", response_model=TextChat, operation_id="end_text_chat", responses=error_responses(504))
async def end_text_chat(
    workflow_id: Id, run_id: LongId, org: RequireMember, chats: Chats, body: EndChatRequest | None = None
) -> TextChat:
    """Ends the chat; ending it again changes nothing."""
    expected = body.expected_revision if body else None
    return present_chat(await chats.conversations.end(org, workflow_id, run_id, expected_revision=expected))
