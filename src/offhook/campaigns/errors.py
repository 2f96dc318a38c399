"""What can be wrong with a request about campaigns."""

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
    """Only a draft can be started."""

    code = "campaign_not_startable"


class CampaignNotPausable(Conflict):
    """Only a running campaign can be paused."""

    code = "campaign_not_pausable"


class CampaignNotResumable(Conflict):
    """Only a paused campaign can be resumed."""

    code = "campaign_not_resumable"


class CampaignNotUpdatable(Conflict):
    """A completed or failed campaign cannot be changed."""

    code = "campaign_not_updatable"


class CampaignNotRedialable(Conflict):
    """Only a completed, paused or failed campaign can be redialled."""

    code = "campaign_not_redialable"


class NothingToRedial(UnprocessableRequest):
    """No contact matches these outcomes that was not reached."""

    code = "nothing_to_redial"


class ContactFileNotFound(NotFound):
    """Your organization has no uploaded file with this key."""

    code = "contacts_file_not_found"


class ContactFileTooLarge(DomainError):
    """A contact file may have 50 MB."""

    code = "too_large"
    status = 413


class NotCsv(DomainError):
    """A contact file is a CSV: its name ends in .csv."""

    code = "unsupported_media_type"
    status = 415


class WorkflowNotRunnable(Conflict):
    """An archived workflow calls nobody."""

    code = "workflow_archived"


class ContactsInvalid(UnprocessableRequest):
    """The contact file cannot be used."""

    code = "contacts_invalid"

    def __init__(self, errors: Sequence[Mapping[str, Any]], total: int) -> None:
        message = f"The contact file has {total} error{'' if total == 1 else 's'}: {errors[0]['message']}"
        super().__init__(message, detail={"message": message, "errors": list(errors), "total_errors": total})


class CampaignRunsByAccount(Conflict):
    """A campaign runs with this carrier account: pause it first."""

    code = "campaign_running_with_account"


class CampaignRunsWithWorkflow(Conflict):
    """A campaign runs with this workflow: pause it or let it end."""

    code = "workflow_has_running_campaign"
