"""Errors of requests about runs."""

from offhook.errors import Conflict, NotFound, NotReady, TooManyRequests, Unauthorized, UnprocessableRequest


class RunNotFound(NotFound):
    """Run not found."""

    code = "run_not_found"


class ConcurrentCallLimit(TooManyRequests):
    """Concurrent call limit reached."""

    code = "concurrent_call_limit"


class UnknownMode(UnprocessableRequest):
    """This mode does not exist. Use browser, textchat, or a carrier."""

    code = "unknown_mode"


class MediaTokenRefused(Unauthorized):
    """The media token is invalid, expired or already used."""

    code = "media_token_refused"


class RunNotConnectable(Conflict):
    """The run has ended or is already connected. Create a new run."""

    code = "run_not_connectable"


class ProcessIsFull(NotReady):
    """The server is at capacity. Try again later."""

    code = "process_full"


class ClusterFull(NotReady):
    """The installation is at its call limit. Try again after a call has ended."""

    code = "cluster_full"


class ServerDraining(NotReady):
    """The server is shutting down and does not accept new calls. Try again in a minute."""

    code = "draining"


class RunInProgress(Conflict):
    """This run is still in progress. Try again after it has ended."""

    code = "run_in_progress"


class RunRecordingNotFound(NotFound):
    """This run has no recording."""

    code = "recording_not_found"


class WorkflowHasNoStart(Conflict):
    """The workflow has no start node. Add one, then try again."""

    code = "workflow_has_no_start"


class ChatConflict(Conflict):
    """The chat has changed, or another message is being answered. Read the chat again."""

    code = "revision_conflict"


class ChatIsFull(Conflict):
    """This chat has reached its turn limit. Start a new chat."""

    code = "chat_turn_limit"


class ChatIsOver(Conflict):
    """This chat has ended. Start a new chat."""

    code = "chat_is_over"


class ChatTurnNotFound(NotFound):
    """Chat turn not found."""

    code = "chat_turn_not_found"


class OlderProcessRunning(Conflict):
    """A process of an older version is running, which cannot read all that is encrypted. Update it, then try again."""

    code = "older_process_running"


class PhraseTooCommon(UnprocessableRequest):
    """More than 500 calls have all words of this phrase. Add words or filters, or choose a shorter time."""

    code = "phrase_too_common"


class JournalNotKept(Conflict):
    """This run has no journal: it is no call, it was carried before journals were kept, or nothing of it is kept."""

    code = "journal_not_kept"


class JournalDamaged(Conflict):
    """The journal of this run is damaged."""

    code = "journal_damaged"
