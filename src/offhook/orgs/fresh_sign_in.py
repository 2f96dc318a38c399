"""A recent sign-in, which replaces a password: a browser that was left open does not prove who is using it."""

from datetime import datetime, timedelta
from typing import Final

from offhook.orgs.caller import Caller
from offhook.orgs.errors import FreshSignInNeeded

# The error names it.
MAX_SIGN_IN_AGE: Final = timedelta(minutes=10)


def has_fresh_sign_in(caller: Caller, now: datetime) -> bool:
    """Returns whether the caller signed in within :data:`MAX_SIGN_IN_AGE`."""
    return caller.signed_in_at is not None and now - caller.signed_in_at <= MAX_SIGN_IN_AGE


def check_fresh_sign_in(caller: Caller, now: datetime) -> None:
    """Raises ``FreshSignInNeeded`` (403) when the caller's sign-in is older than :data:`MAX_SIGN_IN_AGE`."""
    if not has_fresh_sign_in(caller, now):
        raise FreshSignInNeeded
