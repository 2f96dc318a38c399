"""Errors of requests to URLs that users enter."""

from typing import ClassVar

from offhook.errors import DomainError


class EgressError(DomainError):
    """The remote server could not be reached."""

    code = "egress_failed"
    status = 502
    retryable: ClassVar[bool] = True


class UrlInvalid(EgressError):
    """This URL is invalid. It must begin with http:// or https:// and contain a host."""

    code = "url_invalid"
    status = 422
    retryable = False


class HeaderInvalid(EgressError):
    """This header is invalid or not allowed."""

    code = "header_invalid"
    status = 422
    retryable = False


class AddressRefused(EgressError):
    """This address is not public. The operator can allow it with OFFHOOK_EGRESS_ALLOW."""

    code = "egress_refused"
    status = 422
    retryable = False


class HostNotFound(EgressError):
    """The host name could not be resolved."""

    code = "egress_host_not_found"


class EgressTimeout(EgressError):
    """The remote server did not respond in time."""

    code = "egress_timeout"
    status = 504


class ResponseTooLarge(EgressError):
    """The remote server's response is too large."""

    code = "egress_answer_too_large"
    retryable = False


class ResponseUnreadable(EgressError):
    """The remote server's response cannot be read."""

    code = "egress_answer_unreadable"
    retryable = False


class MediaTypeRefused(ResponseUnreadable):
    """The remote server responded with another type of content; ``remote_status`` is the status of its response."""

    def __init__(self, media_type: str, remote_status: int) -> None:
        super().__init__(f"The remote server responded with {media_type[:80] or 'no content type'}.")
        self.remote_status = remote_status


class RedirectRefused(EgressError):
    """The remote server redirected too many times, or to an address that is not allowed."""

    code = "egress_redirect_refused"
    retryable = False
