"""Edges whose own words a caller says, whatever else they say beside them. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.edge_matching import EdgeMatch
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.overlap import CONTAINED, phrase_fit
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import content_stems, is_plain_polarity

# Fewer words of content say no edge outright.
MIN_WORDS: Final = 2
_PARTS: Final = re.compile(r"[,;.!?]")


def edge_said_outright(said: CallerUtterance, chosen: EdgeMatch | None, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns what was chosen, or the edge of which an author wrote what is said beside a yes that would choose the
    other one: "first time here, yes" to "have you been here before?".
    """
    polarity = None if chosen is None else edge_polarity(chosen.edge)
    if chosen is None or polarity is None or said.polarity != polarity:
        return chosen
    opposite = [edge for edge in edges if edge_polarity(edge) not in (None, polarity) and not edge.is_final]
    parts = [part for part in _PARTS.split(said.heard) if len(content_stems(part)) >= MIN_WORDS]
    fitting = [edge for edge in opposite if any(phrase_fit(part, _spoken(edge)) >= CONTAINED for part in parts)]
    is_chosen_said = phrase_fit(said.heard, _spoken(chosen.edge)) >= CONTAINED
    return EdgeMatch(fitting[0], chosen.score) if len(fitting) == 1 and not is_chosen_said else chosen


def _spoken(edge: EdgeHint) -> list[str]:
    """Returns what callers say there, without a plain yes or no."""
    return [example for example in edge.examples if not is_plain_polarity(example)]
