"""What a caller's last answer does, as far as the classifier is sure: what variables are read from it, if any. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.acts.classifier import UNKNOWN_ACTS, ActOdds, CallerAct
from offhook.models.providers.builtin.edge_polarity import edge_polarity

SURE_ODDS: Final = 0.85
CERTAIN_ODDS: Final = 0.95
_LITTLE: Final = 0.1
_GIVES: Final[tuple[CallerAct, ...]] = ("answer", "change", "request", "yes_but")


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """``rates_nothing``: it asks back or is said to somebody else. ``edge``: the one of a yes or a no that has
    neither word in it.
    """

    rates_nothing: bool = False
    edge: EdgeHint | None = None


UNKNOWN_ANSWER: Final = LastAnswer()


def read_answer(odds: ActOdds, edges: Sequence[EdgeHint]) -> LastAnswer:
    """Returns what an answer does to a node with these edges."""
    if odds is UNKNOWN_ACTS:
        return UNKNOWN_ANSWER
    fitting = [
        edge for edge in edges if (polarity := edge_polarity(edge)) is not None and odds.of(polarity) >= CERTAIN_ODDS
    ]
    return LastAnswer(
        rates_nothing=odds.of("wait", "question", "unclear") >= SURE_ODDS and odds.of(*_GIVES) < _LITTLE,
        edge=fitting[0] if len(fitting) == 1 else None,
    )
