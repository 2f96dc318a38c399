"""Errors of this domain."""

from offhook.errors import Conflict, NotFound


class DataRequestNotFound(NotFound):
    """Data request not found."""

    code = "data_request_not_found"


class ArchiveNotReady(Conflict):
    """The archive is not ready yet, or it has expired. Check the state of the request, or request a new export."""

    code = "archive_not_ready"


class OrganizationHasLiveCalls(Conflict):
    """Calls of this organization are in progress, or a chat is being answered. Try again after they have ended."""

    code = "organization_has_live_calls"


class OrganizationHasRunningCampaigns(Conflict):
    """A campaign of this organization is running. Pause it first."""

    code = "organization_has_running_campaigns"


class NumberIsOwn(Conflict):
    """This number belongs to your organization. Remove it from its carrier account first."""

    code = "number_is_own"


class NumberInCall(Conflict):
    """This number is on a call now. Try again after the call has ended."""

    code = "number_in_call"
