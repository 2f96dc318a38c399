"""Errors of requests to URLs that users enter."""

from typing import ClassVar

from offhook.errors import DomainError


class EgressError(DomainError):
    """The other server could not be reached."""

    code = "egress_failed"
    status = 502
    retryable: ClassVar[bool] = True


class UrlInvalid(EgressError):
    """This is not an address that can be called: send http:// or https:// and a host."""

    code = "url_invalid"
    status = 422
    retryable = False


class HeaderInvalid(EgressError):
    """This header cannot be sent."""

    code = "header_invalid"
    status = 422
    retryable = False


class AddressRefused(EgressError):
    """This address is not public. An operator may allow it with OFFHOOK_EGRESS_ALLOW."""

    code = "egress_refused"
    status = 422
    retryable = False


class HostNotFound(EgressError):
    """The host's name is not known."""

    code = "egress_host_not_found"


class EgressTimeout(EgressError):
    """The other server took too long."""

    code = "egress_timeout"
    status = 504


class ResponseTooLarge(EgressError):
    """The other server's answer is larger than allowed."""

    code = "egress_answer_too_large"
    retryable = False


class ResponseUnreadable(EgressError):
    """The other server's answer cannot be read."""

    code = "egress_answer_unreadable"
    retryable = False


class RedirectRefused(EgressError):
    """The other server redirects too often, or to where its answers must not lead."""

    code = "egress_redirect_refused"
    retryable = False
