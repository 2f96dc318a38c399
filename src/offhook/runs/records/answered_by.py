"""Who took a call, as the carrier heard it: what would count as answered is a voicemail when a machine did."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case

from offhook.runs.tables import Run

ANSWERED_BY: Final = "answered_by"  # in ``gathered_context``: human or machine
MACHINE: Final = "machine"
ANSWERED: Final = "answered"
VOICEMAIL: Final = "voicemail"


def is_machine(run: Run) -> bool:
    return bool(run.gathered_context.get(ANSWERED_BY) == MACHINE)


def outcome_or_voicemail(otherwise: ColumnElement[Any]) -> ColumnElement[Any]:
    """This outcome, for an UPDATE of a run: the carrier's verdict may be written at the same time."""
    by_machine = and_(otherwise == ANSWERED, Run.gathered_context[ANSWERED_BY].astext == MACHINE)
    return case((by_machine, VOICEMAIL), else_=otherwise)
