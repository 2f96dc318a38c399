"""What can go wrong with a text chat beyond its state."""

from offhook.errors import Conflict, DomainError


class WorkflowChanged(Conflict):
    """The draft was changed and the node that this chat stood at is gone: start a new chat."""

    code = "workflow_changed"


class ChatTimedOut(DomainError):
    """The model did not answer in time: send the message again."""

    code = "chat_timed_out"
    status = 504
