"""Maps the end of a run to the outcome of the contact that was called."""

from typing import Final

ANSWERED: Final = "answered"
DO_NOT_CALL: Final = "do_not_call"
CANCELED: Final = "canceled"
FAILED: Final = "failed"
VOICEMAIL: Final = "voicemail"
# Answered, and cut off because the process that carried the call died or was stopped.
INTERRUPTED: Final = "interrupted_by_us"
OUTCOMES: Final = (
    "answered", "not_understood", "interrupted_by_us", "no_answer", "busy", "voicemail", "failed", "canceled",
    "do_not_call", "invalid_number",
)  # fmt: skip
# A redial skips contacts that were talked to and contacts that may not be called.
REDIALABLE: Final = frozenset(
    {"not_understood", "interrupted_by_us", "no_answer", "busy", "voicemail", "failed", "canceled"}
)

_BY_OUTCOME: Final = {"answered": ANSWERED, "transferred": ANSWERED, "voicemail": VOICEMAIL}
_OUR_FAULTS: Final = frozenset({"worker_lost", "server_stopped"})
_BY_STATUS: Final = {"busy": "busy", "no_answer": "no_answer", "canceled": CANCELED}


def outcome_of_run(status: str, outcome: str | None, end_reason: str | None = None) -> str:
    """Returns the contact's outcome for a finished run. A callee who talked was reached, unless we cut the call off."""
    if outcome == ANSWERED and end_reason in _OUR_FAULTS:
        return INTERRUPTED
    if outcome in _BY_OUTCOME:
        return _BY_OUTCOME[outcome]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return outcome if status == "completed" and outcome in OUTCOMES else FAILED
