"""Errors of requests about campaigns."""

from collections.abc import Mapping, Sequence
from typing import Any

from offhook.errors import Conflict, DomainError, NotFound, UnprocessableRequest


class CampaignNotFound(NotFound):
    """Campaign not found."""

    code = "campaign_not_found"


class ContactNotFound(NotFound):
    """Contact not found."""

    code = "contact_not_found"


class CampaignNotStartable(Conflict):
    """Only drafts can be started."""

    code = "campaign_not_startable"


class CampaignNotPausable(Conflict):
    """Only running campaigns can be paused."""

    code = "campaign_not_pausable"


class CampaignNotResumable(Conflict):
    """Only paused campaigns can be resumed."""

    code = "campaign_not_resumable"


class CampaignNotUpdatable(Conflict):
    """Completed and failed campaigns cannot be changed."""

    code = "campaign_not_updatable"


class CampaignNotSchedulable(Conflict):
    """Only drafts can be scheduled."""

    code = "campaign_not_schedulable"


class StartInPast(UnprocessableRequest):
    """The start time is in the past. Enter a later one."""

    code = "start_in_past"


class StartTooFarAhead(UnprocessableRequest):
    """Campaigns can be scheduled at most 60 days ahead."""

    code = "start_too_far_ahead"


class CampaignNotRedialable(Conflict):
    """Only completed, paused or failed campaigns can be redialed."""

    code = "campaign_not_redialable"


class CampaignRunning(Conflict):
    """Running campaigns cannot be deleted. Pause the campaign first."""

    code = "campaign_running"


class CampaignHasLiveCalls(Conflict):
    """Calls of this campaign are in progress. Wait until they have ended."""

    code = "campaign_has_live_calls"


class CampaignNotOver(Conflict):
    """A contact list can be deleted only after its campaign has completed or failed. Delete the campaign instead."""

    code = "campaign_not_over"


class NothingToRedial(UnprocessableRequest):
    """No unreached contacts have these outcomes."""

    code = "nothing_to_redial"


class ContactFileNotFound(NotFound):
    """No uploaded file has this key."""

    code = "contacts_file_not_found"


class ContactFileTooLarge(DomainError):
    """Contact files are limited to 50 MB."""

    code = "too_large"
    status = 413


class NotCsv(DomainError):
    """Contact files must be CSV files whose name ends in .csv."""

    code = "unsupported_media_type"
    status = 415


class WorkflowNotRunnable(Conflict):
    """Archived agents cannot place calls."""

    code = "workflow_archived"


class ContactsInvalid(UnprocessableRequest):
    """The contact file has errors. Correct the rows and upload it again."""

    code = "contacts_invalid"

    def __init__(self, errors: Sequence[Mapping[str, Any]], total: int) -> None:
        message = f"The contact file has {total} error{'' if total == 1 else 's'}: {errors[0]['message']}"
        super().__init__(message, detail={"message": message, "errors": list(errors), "total_errors": total})


class CampaignRunsByAccount(Conflict):
    """A running campaign uses this carrier account. Pause the campaign first."""

    code = "campaign_running_with_account"


class CampaignRunsWithWorkflow(Conflict):
    """A running campaign uses this workflow. Pause the campaign first."""

    code = "workflow_has_running_campaign"
