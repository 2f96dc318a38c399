"""Errors of text chats beyond their state."""

from offhook.errors import Conflict, DomainError, NotFound, TooManyRequests, UnprocessableRequest


class WorkflowChanged(Conflict):
    """The draft was changed and this chat's current node was deleted. Start a new chat."""

    code = "workflow_changed"


class ChatTimedOut(DomainError):
    """The model did not respond in time. Send the message again."""

    code = "chat_timed_out"
    status = 504


class TooManyChatAnswers(TooManyRequests):
    """Too many text chats are being answered right now. Try again in a few seconds."""

    code = "too_many_chat_answers"


class TurnNotFound(NotFound):
    """This conversation has no such turn, or its transcript was deleted."""

    code = "turn_not_found"


class TurnNotUnderstood(Conflict):
    """The caller was not understood in this turn, so there is nothing to replay."""

    code = "turn_not_understood"


class StepNotInDraft(Conflict):
    """The step where this was said is not in the version that the turn would be replayed with."""

    code = "step_not_in_draft"


class StartStepUnknown(UnprocessableRequest):
    """The agent has no step with this id that talks to callers."""

    code = "start_step_unknown"
