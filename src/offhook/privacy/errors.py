"""Errors of this domain."""

from offhook.errors import Conflict, NotFound


class DataRequestNotFound(NotFound):
    """There is no such request."""

    code = "data_request_not_found"


class ArchiveNotReady(Conflict):
    """The archive is not ready, or it has expired."""

    code = "archive_not_ready"


class NumberIsOwn(Conflict):
    """This number belongs to your organization. Remove it from its carrier account first."""

    code = "number_is_own"


class NumberInCall(Conflict):
    """This number is on a call now. Try again when the call is over."""

    code = "number_in_call"
