"""What a credential may do of that which its role may: scopes of API keys, and superusers in a borrowed session.

Rules go by operation, and what no rule names needs the most: a new operation is closed until somebody opens it.
"""

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Final

from starlette.requests import HTTPConnection

from offhook.orgs.caller import Caller
from offhook.orgs.errors import (
    BorrowedSessionReadOnly,
    BorrowedSessionRefused,
    KeyScopeMissing,
    ProviderSignInRequired,
    SecondFactorRequired,
)

READ: Final = "read"
CALL: Final = "call"
MANAGE: Final = "manage"
SCOPES: Final = (READ, CALL, MANAGE)

_READING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# Questions that are asked by POST.
QUESTIONS: Final = frozenset({"validate_workflow", "search_knowledge"})
# Operations of a conversation or of a campaign's calls.
CALLING: Final = frozenset(
    {
        "create_workflow_run",
        "test_phone_call",
        "trigger_agent",
        "hang_up_call",
        "start_text_chat",
        "send_text_chat_message",
        "rewind_text_chat",
        "end_text_chat",
        "place_campaign_test_call",
        "start_campaign",
        "pause_campaign",
        "resume_campaign",
    }
)
# What outlives a borrowed session, or speaks in the customer's name to others.
_NEVER_BORROWED: Final = re.compile(
    r"^/api/v1/(organizations/(api-keys|members|invitations|deletion|support-access|identity-provider|webhooks|telephony-configs)"
    r"|user/api-keys|credentials|telephony/(quick-connect|managed-numbers))(/|$)"
)
# Sign-in, passwords, sessions and superusers have rules of their own.
_OWN_RULES: Final = ("/api/v1/auth/", "/api/v1/superuser/")
# Where people set up a demanded second factor, sign in as demanded, or go to another organization.
_OWN_ACCOUNT: Final = "/api/v1/auth/"


def check_access(connection: HTTPConnection, caller: Caller) -> None:
    """Raises ``ProviderSignInRequired``, ``SecondFactorRequired``, ``KeyScopeMissing``, ``BorrowedSessionReadOnly`` or
    ``BorrowedSessionRefused`` (403)."""
    if caller.lacks_provider and not connection.scope["path"].startswith(_OWN_ACCOUNT):
        raise ProviderSignInRequired
    if caller.lacks_second_factor and not connection.scope["path"].startswith(_OWN_ACCOUNT):
        raise SecondFactorRequired
    if caller.scopes is None and caller.impersonator_id is None:
        return
    needed = _needed_scope(connection)
    if caller.scopes is not None and needed not in caller.scopes:
        raise KeyScopeMissing(
            f"This API key lacks the scope {needed!r}. Use another key, or create one with this scope."
        )
    if caller.impersonator_id is None or needed == READ or connection.scope["path"].startswith(_OWN_RULES):
        return
    if _NEVER_BORROWED.match(connection.scope["path"]):
        raise BorrowedSessionRefused
    if not caller.support_may_write:
        raise BorrowedSessionReadOnly


def is_in_networks(address: str | None, networks: Sequence[str]) -> bool:
    """Returns whether the address is in one of the CIDR networks; no network at all means any address."""
    if not networks:
        return True
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in ip_network(network) for network in networks)


def _needed_scope(connection: HTTPConnection) -> str:
    if connection.scope["type"] != "http":
        return CALL
    operation_id = getattr(connection.scope.get("route"), "operation_id", None)
    if connection.scope["method"] in _READING_METHODS or operation_id in QUESTIONS:
        return READ
    return CALL if operation_id in CALLING else MANAGE
