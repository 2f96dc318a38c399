"""Calls to addresses that users type in: tools, webhooks, vendors' base addresses. See ``EgressClient``."""

from offhook.kit.egress.client import EgressAnswer, EgressClient
from offhook.kit.egress.errors import (
    AddressRefused,
    AnswerTooLarge,
    AnswerUnreadable,
    EgressError,
    EgressTimeout,
    HeaderInvalid,
    HostNotFound,
    RedirectRefused,
    UrlInvalid,
)
from offhook.kit.egress.headers import check_header, checked_headers
from offhook.kit.egress.policy import EgressPolicy
from offhook.kit.egress.transport import GuardedTransport, Resolver, SystemResolver

__all__ = [
    "AddressRefused",
    "AnswerTooLarge",
    "AnswerUnreadable",
    "EgressAnswer",
    "EgressClient",
    "EgressError",
    "EgressPolicy",
    "EgressTimeout",
    "GuardedTransport",
    "HeaderInvalid",
    "HostNotFound",
    "RedirectRefused",
    "Resolver",
    "SystemResolver",
    "UrlInvalid",
    "check_header",
    "checked_headers",
]
