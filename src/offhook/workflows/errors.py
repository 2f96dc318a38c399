"""Errors of workflows."""

from offhook.errors import Conflict, DomainError, NotFound, UnprocessableRequest
from offhook.kit.json_values import JsonObject


class WorkflowNotFound(NotFound):
    """Workflow not found."""

    code = "workflow_not_found"


class WorkflowArchived(NotFound):
    """This agent is archived and cannot take calls."""

    code = "workflow_archived"


class WorkflowNotPublished(Conflict):
    """This agent has no published version."""

    code = "workflow_not_published"


class WorkflowRevisionConflict(Conflict):
    """This agent was changed by someone else or in another tab. Reload it and try again."""

    code = "revision_conflict"

    def __init__(self, expected: int, actual: int) -> None:
        message = (self.__doc__ or "").strip()
        super().__init__(message, detail={"message": message, "expected_revision": expected, "actual_revision": actual})


class PublishConflict(Conflict):
    """This draft was published by someone else at the same time."""

    code = "publish_conflict"


class WorkflowHasLiveRuns(Conflict):
    """This agent has live conversations. End them before you delete it."""

    code = "workflow_has_live_runs"


class AgentFileInvalid(UnprocessableRequest):
    """This agent file is invalid."""

    code = "agent_file_invalid"


class FolderNotFound(NotFound):
    """Folder not found."""

    code = "folder_not_found"


class FolderNameTaken(Conflict):
    """A folder with this name already exists."""

    code = "folder_name_taken"


class TemplateNotFound(NotFound):
    """Template not found. List the templates to see their ids."""

    code = "template_not_found"


class GenerationFailed(DomainError):
    """The language model failed to generate an agent."""

    code = "generation_failed"
    status = 502


class GenerationTimedOut(DomainError):
    """The language model took too long to generate an agent. Try again."""

    code = "generation_timed_out"
    status = 504


class VersionNotFound(NotFound):
    """Workflow version not found."""

    code = "workflow_version_not_found"


class TriggerNotFound(NotFound):
    """No published workflow has this trigger."""

    code = "trigger_not_found"


class NodeTypeNotFound(NotFound):
    """Node type not found."""

    code = "node_type_not_found"


class WorkflowInvalid(UnprocessableRequest):
    """The draft is invalid."""

    code = "workflow_invalid"

    def __init__(self, errors: list[JsonObject]) -> None:
        super().__init__(detail={"is_valid": False, "errors": errors})


class TriggerConflict(Conflict):
    """The trigger path is already used by another agent."""

    code = "trigger_conflict"


class StatusFilterInvalid(UnprocessableRequest):
    """Invalid workflow status filter."""

    code = "status_filter_invalid"


class CanaryRunning(Conflict):
    """A canary of this agent is taking calls. End it before you publish another version."""

    code = "canary_running"


class CanaryNotFound(NotFound):
    """This agent has no canary."""

    code = "canary_not_found"


class CanaryNotRunning(Conflict):
    """This canary has already ended. Start a new one."""

    code = "canary_not_running"


class CanaryNeedsDraft(Conflict):
    """There is no draft to take a share of calls. Create a draft first."""

    code = "canary_needs_draft"


class CanaryNeedsPublished(Conflict):
    """There is no published version to compare a canary with. Publish the draft first."""

    code = "canary_needs_published"


class TurnDetectorUnavailable(UnprocessableRequest):
    """This server has no turn detector. Turn off turn_detector, or ask the operator to install one."""

    code = "turn_detector_unavailable"
