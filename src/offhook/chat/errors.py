"""Errors of text chats beyond their state."""

from offhook.errors import Conflict, DomainError


class WorkflowChanged(Conflict):
    """The draft was changed and this chat's current node was deleted. Start a new chat."""

    code = "workflow_changed"


class ChatTimedOut(DomainError):
    """The model did not answer in time. Send the message again."""

    code = "chat_timed_out"
    status = 504
