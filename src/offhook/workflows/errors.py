"""What can be wrong with a workflow, as a caller sees it."""

from typing import Any

from offhook.errors import Conflict, NotFound, Unprocessable


class WorkflowNotFound(NotFound):
    """Workflow not found."""

    code = "workflow_not_found"


class WorkflowArchived(NotFound):
    """This workflow is archived: it answers no call."""

    code = "workflow_archived"


class WorkflowNotPublished(Conflict):
    """This workflow has no published version."""

    code = "workflow_not_published"


class VersionNotFound(NotFound):
    """This workflow has no such version."""

    code = "workflow_version_not_found"


class TriggerNotFound(NotFound):
    """No published workflow answers at this trigger."""

    code = "trigger_not_found"


class NodeTypeNotFound(NotFound):
    """There is no such node type."""

    code = "node_type_not_found"


class WorkflowInvalid(Unprocessable):
    """The draft does not pass validation."""

    code = "workflow_invalid"

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(detail={"is_valid": False, "errors": errors})


class TriggerConflict(Conflict):
    """Trigger path is already in use by another workflow."""

    code = "trigger_conflict"


class StatusFilterInvalid(Unprocessable):
    """Invalid workflow status filter."""

    code = "status_filter_invalid"
