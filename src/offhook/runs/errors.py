"""What can be wrong with a request about runs."""

from offhook.errors import Conflict, NotFound, TooManyRequests, Unauthorized, UnprocessableRequest


class RunNotFound(NotFound):
    """Run not found."""

    code = "run_not_found"


class ConcurrentCallLimit(TooManyRequests):
    """Your organization has as many live calls as it may have."""

    code = "concurrent_call_limit"


class UnknownMode(UnprocessableRequest):
    """This mode does not exist."""

    code = "unknown_mode"


class MediaTokenRefused(Unauthorized):
    """The media token is wrong, used, expired or of another run."""

    code = "media_token_refused"


class RunNotConnectable(Conflict):
    """The run is over, or another socket carries it already."""

    code = "run_not_connectable"


class ProcessIsFull(TooManyRequests):
    """This process carries as many calls as it may."""

    code = "process_full"


class RunRecordingNotFound(NotFound):
    """This run has no recording."""

    code = "recording_not_found"


class WorkflowHasNoStart(Conflict):
    """The workflow has no start node yet: add one, then try again."""

    code = "workflow_has_no_start"


class ChatConflict(Conflict):
    """The chat is at another revision, or another message is being answered."""

    code = "revision_conflict"


class ChatIsFull(Conflict):
    """This chat has had as many turns as a chat may have: start a new one."""

    code = "chat_turn_limit"


class ChatIsOver(Conflict):
    """This chat is over."""

    code = "chat_is_over"


class ChatTurnNotFound(NotFound):
    """This chat has no such turn."""

    code = "chat_turn_not_found"
