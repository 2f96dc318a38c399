"""Names for what the carrier detected at answer: a call that a machine answered is a voicemail."""

from typing import Final

from offhook.runs.tables import Run

ANSWERED_BY: Final = "answered_by"  # in ``gathered_context``: human or machine
MACHINE: Final = "machine"
ANSWERED: Final = "answered"
VOICEMAIL: Final = "voicemail"


def is_machine(run: Run) -> bool:
    """Returns whether the carrier detected an answering machine."""
    return bool(run.gathered_context.get(ANSWERED_BY) == MACHINE)
