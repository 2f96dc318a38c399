"""What can be wrong with a workflow, as a caller sees it."""

from typing import Any

from offhook.errors import Conflict, DomainError, NotFound, UnprocessableRequest


class WorkflowNotFound(NotFound):
    """Workflow not found."""

    code = "workflow_not_found"


class WorkflowArchived(NotFound):
    """This workflow is archived: it answers no call."""

    code = "workflow_archived"


class WorkflowNotPublished(Conflict):
    """This workflow has no published version."""

    code = "workflow_not_published"


class WorkflowRevisionConflict(Conflict):
    """Somebody else has changed this workflow since you read it: read it again."""

    code = "revision_conflict"

    def __init__(self, expected: int, actual: int) -> None:
        message = (self.__doc__ or "").strip()
        super().__init__(message, detail={"message": message, "expected_revision": expected, "actual_revision": actual})


class PublishConflict(Conflict):
    """Somebody else published this draft at the same moment."""

    code = "publish_conflict"


class WorkflowHasLiveRuns(Conflict):
    """A conversation with this workflow is going on: end it, then delete."""

    code = "workflow_has_live_runs"


class FolderNotFound(NotFound):
    """Folder not found."""

    code = "folder_not_found"


class FolderNameTaken(Conflict):
    """A folder with this name exists."""

    code = "folder_name_taken"


class GenerationFailed(DomainError):
    """The language model could not write a workflow."""

    code = "generation_failed"
    status = 502


class GenerationTimedOut(DomainError):
    """The language model took too long to write a workflow: try again."""

    code = "generation_timed_out"
    status = 504


class VersionNotFound(NotFound):
    """This workflow has no such version."""

    code = "workflow_version_not_found"


class TriggerNotFound(NotFound):
    """No published workflow answers at this trigger."""

    code = "trigger_not_found"


class NodeTypeNotFound(NotFound):
    """There is no such node type."""

    code = "node_type_not_found"


class WorkflowInvalid(UnprocessableRequest):
    """The draft does not pass validation."""

    code = "workflow_invalid"

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(detail={"is_valid": False, "errors": errors})


class TriggerConflict(Conflict):
    """Trigger path is already in use by another workflow."""

    code = "trigger_conflict"


class StatusFilterInvalid(UnprocessableRequest):
    """Invalid workflow status filter."""

    code = "status_filter_invalid"
