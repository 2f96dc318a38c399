"""Checks the scheduled start of a draft, and names the columns that store it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from offhook.campaigns.errors import StartInPast, StartTooFarAhead
from offhook.orgs import Caller, refuse_without_call_scope

STARTS_AT: Final = "starts_at"
MAX_AHEAD: Final = timedelta(days=60)
# Later than this, the people who are called and their numbers are no longer those of the plan.
MAX_LATE: Final = timedelta(days=1)
NO_START: Final[Mapping[str, object]] = MappingProxyType(
    {STARTS_AT: None, "start_set_by": None, "start_set_by_key": None, "start_problem": None}
)


def start_columns(caller: Caller, starts_at: datetime | None, now: datetime) -> dict[str, object]:
    """Returns the columns for a start time that the caller sets; None clears it.

    Raises StartInPast, StartTooFarAhead (422), and KeyScopeMissing (403) for a key that may change drafts but not start them.
    """
    if starts_at is None:
        return dict(NO_START)
    refuse_without_call_scope(caller)
    if starts_at <= now:
        raise StartInPast(field=STARTS_AT)
    if starts_at > now + MAX_AHEAD:
        raise StartTooFarAhead(field=STARTS_AT)
    return {**NO_START, STARTS_AT: starts_at, "start_set_by": caller.user_id, "start_set_by_key": caller.key_id}
