"""The states of a run and the only moves between them; pure, so that every order of callbacks can be tried."""

from typing import Final

INITIATED: Final = "initiated"
RINGING: Final = "ringing"
IN_PROGRESS: Final = "in_progress"
COMPLETED: Final = "completed"
BUSY: Final = "busy"
NO_ANSWER: Final = "no_answer"
FAILED: Final = "failed"
CANCELED: Final = "canceled"

LIVE: Final = frozenset({INITIATED, RINGING, IN_PROGRESS})
FINAL: Final = frozenset({COMPLETED, BUSY, NO_ANSWER, FAILED, CANCELED})
ALL: Final = LIVE | FINAL

_ORDER: Final = {INITIATED: 0, RINGING: 1, IN_PROGRESS: 2}

# How a run went when nobody said more than its final status.
OUTCOME_OF: Final = {
    COMPLETED: "answered",
    BUSY: "busy",
    NO_ANSWER: "no_answer",
    FAILED: "failed",
    CANCELED: "canceled",
}


def may_move(current: str, target: str) -> bool:
    """Whether a run in ``current`` goes to ``target``: only forwards, and never out of a final state."""
    if current not in LIVE or target not in ALL:
        return False
    return target in FINAL or _ORDER[target] > _ORDER[current]


def sources_of(target: str) -> frozenset[str]:
    """Every state from which ``target`` may be reached; the ``WHERE status IN …`` of a compare-and-swap."""
    return frozenset(state for state in LIVE if may_move(state, target))
