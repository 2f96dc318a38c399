"""The states of a run and the allowed transitions. Pure, so that tests can try every order of callbacks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

# The mode of runs without audio.
TEXT_CHAT: Final = "textchat"

INITIATED: Final = "initiated"
RINGING: Final = "ringing"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
BUSY: Final = "busy"
NO_ANSWER: Final = "no_answer"
FAILED: Final = "failed"
CANCELED: Final = "canceled"

LIVE_STATES: Final = frozenset({INITIATED, RINGING, IN_PROGRESS})
FINAL_STATES: Final = frozenset({COMPLETED, BUSY, NO_ANSWER, FAILED, CANCELED})
ALL_STATES: Final = LIVE_STATES | FINAL_STATES

_ORDER: Final = {INITIATED: 0, RINGING: 1, IN_PROGRESS: 2}

# Default outcomes by final status.
OUTCOME_OF: Final = {
    COMPLETED: "answered",
    BUSY: "busy",
    NO_ANSWER: "no_answer",
    FAILED: "failed",
    CANCELED: "canceled",
}


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A report that a run reached ``status``, with what else is known; ``at`` is when it happened."""

    organization_id: int
    run_id: int
    status: str
    at: datetime
    outcome: str | None = None
    end_reason: str | None = None
    call_id: str | None = None


def can_move(current: str, target: str) -> bool:
    """Returns whether a run may go from ``current`` to ``target``: only forward, and never out of a final state."""
    if current not in LIVE_STATES or target not in ALL_STATES:
        return False
    return target in FINAL_STATES or _ORDER[target] > _ORDER[current]


def source_states(target: str) -> frozenset[str]:
    """Returns every state from which ``target`` can be reached; for the ``WHERE status IN …`` of a compare-and-swap."""
    return frozenset(state for state in LIVE_STATES if can_move(state, target))
