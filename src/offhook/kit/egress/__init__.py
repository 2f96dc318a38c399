"""Requests to URLs that users enter: tools, webhooks, vendors' base URLs. See ``EgressClient``."""

from offhook.kit.egress.client import EgressClient, EgressResponse, refuse_cookies
from offhook.kit.egress.errors import (
    AddressRefused,
    EgressError,
    EgressTimeout,
    HeaderInvalid,
    HostNotFound,
    MediaTypeRefused,
    RedirectRefused,
    ResponseTooLarge,
    ResponseUnreadable,
    UrlInvalid,
)
from offhook.kit.egress.headers import check_header, normalize_headers
from offhook.kit.egress.policy import EgressPolicy
from offhook.kit.egress.resolver import HostResolver, SystemHostResolver
from offhook.kit.egress.transport import GuardedTransport

__all__ = [
    "AddressRefused",
    "EgressClient",
    "EgressError",
    "EgressPolicy",
    "EgressResponse",
    "EgressTimeout",
    "GuardedTransport",
    "HeaderInvalid",
    "HostNotFound",
    "HostResolver",
    "MediaTypeRefused",
    "RedirectRefused",
    "ResponseTooLarge",
    "ResponseUnreadable",
    "SystemHostResolver",
    "UrlInvalid",
    "check_header",
    "normalize_headers",
    "refuse_cookies",
]
