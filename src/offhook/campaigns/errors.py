"""What can be wrong with a request about campaigns."""

from offhook.errors import Conflict, NotFound, Unprocessable


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


class NothingToRedial(Unprocessable):
    """No contact matches these outcomes that was not reached."""

    code = "nothing_to_redial"
