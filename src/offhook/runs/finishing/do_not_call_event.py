"""The event of callers who ask not to be called again, and so go on the do-not-call list."""

from typing import Final

DO_NOT_CALL_REQUESTED: Final = "do_not_call_requested"  # {text}: the caller is on the list from this point on
