"""Edges whose own words a caller says, regardless of what else they say. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.edge_matching import EdgeMatch, edge_of_phrase, is_closing
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.overlap import CONTAINED, phrase_fit
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import (
    content_stems,
    essential_tokens,
    is_plain_polarity,
    stem_word,
    word_tokens,
)

# Fewer words of content say no edge outright.
MIN_WORDS: Final = 2
_IS_ABOUT: Final = re.compile(
    r"^(?:it is|this is|that is|i am calling)(?: (?:about|just|only|really|because of))* (?:my|our|the|an?) (?:\w+ )?(?P<what>\w+)\b"
)
_PARTS: Final = re.compile(r"[,;.!?]")
_ASIDE: Final = re.compile(r"(?:oh|well|um+|uh+|hmm|so|sorry|right|okay|ok|ah)", re.IGNORECASE)
# Words after which more than a reason follows.
_TURNS: Final = re.compile(r"\b(?:but|or|actually|instead|rather|unless|wait|not|no)\b")


def edge_said_outright(said: CallerUtterance, chosen: EdgeMatch | None, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns what was chosen, or the edge of which an author wrote what is said beside a yes that would choose the
    other one: "first time here, yes" to "have you been here before?". So for a no that ends the call: "no, you have the
    wrong number" declines nothing.
    """
    if chosen is None:
        return None
    polarity = edge_polarity(chosen.edge) or ("no" if chosen.edge.is_final and is_closing(chosen.edge) else None)
    if polarity is None or said.polarity != polarity:
        return chosen
    opposite = [edge for edge in edges if edge_polarity(edge) not in (None, polarity) and not edge.is_final]
    clauses = _PARTS.split(said.heard)
    parts = [part for part in clauses if len(content_stems(part)) >= MIN_WORDS]
    fitting = [edge for edge in opposite if any(phrase_fit(part, _spoken(edge)) >= CONTAINED for part in parts)]
    if not fitting and polarity == "no" and polarity_of(clauses[0]) == "no":
        others = [edge for edge in edges if edge_polarity(edge) is None and edge is not chosen.edge]
        fitting = [edge for edge in others if any(phrase_fit(part, _spoken(edge)) >= CONTAINED for part in parts)]
        fitting = fitting or [edge for edge in others if any(_names_matter(part, edge) for part in clauses[1:])]
    is_chosen_said = phrase_fit(said.heard, _spoken(chosen.edge)) >= CONTAINED
    return EdgeMatch(fitting[0], chosen.score) if len(fitting) == 1 and not is_chosen_said else chosen


def _names_matter(text: str, edge: EdgeHint) -> bool:
    """Returns True for "it's my bill" and an edge with that word in its label."""
    match = _IS_ABOUT.match(" ".join(word_tokens(text)))
    return match is not None and stem_word(match["what"]) in content_stems(edge.label)


def _spoken(edge: EdgeHint) -> list[str]:
    """Returns what callers say there, without a plain yes or no."""
    return [example for example in edge.examples if not is_plain_polarity(example)]


def edge_named_first(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge that the first words name exactly, if a reason follows: "nights, my wife does days"."""
    clauses = [part for part in _PARTS.split(text) if essential_tokens(part) and not _ASIDE.fullmatch(part.strip())]
    if len(clauses) < 2 or polarity_of(clauses[0]) is not None or _TURNS.search(" ".join(word_tokens(text))):
        return None
    named = edge_of_phrase(clauses[0], edges)
    return None if named is None or edge_polarity(named.edge) is not None else named
