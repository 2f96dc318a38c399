"""The yes or the no that an edge stands for. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.words import (
    CONDITION_STOP,
    Polarity,
    answer_polarity,
    content_stems,
    essential_tokens,
    is_plain_polarity,
)

_NEGATIVE: Final = re.compile(
    r"\b((does not|do not|did not|doesn't|don't|didn't) (want|wish|like|agree|accept|need|confirm|approve|consent|care)|not interested|"
    r"(?:is|are|was|were) (?:not|n't) (?:correct|right|happy|satisfied|okay|ok|interested)|(?:isn't|aren't|wasn't) (?:correct|right|happy|satisfied|okay|ok|interested)|"
    r"incorrect|not (?:correct|right)|something (?:is )?wrong|(?:is|are|was|were) wrong|declin\w+|refus\w+|reject\w+|disagree\w*|says no|answers no|say no)\b",
    re.IGNORECASE,
)
UNSURE: Final = re.compile(
    r"\b(?:not sure|unsure|undecided|maybe|(?:does not|doesn't|do not|don't) know)\b", re.IGNORECASE
)
_NEGATED_FACT: Final = re.compile(
    r"\b(not|never|no|isn't|hasn't|doesn't|don't|didn't|can't|cannot|couldn't|won't|unable|still|wrong|new|nobody|nothing|none|without|alone)\b",
    re.IGNORECASE,
)
_POSITIVE: Final = re.compile(
    r"\b(agree\w*|accept\w*|confirm\w*|approv\w+|says yes|answers yes|is interested|is happy|consent\w*|(?<!the )correct(?! (?:info|one|name|number|date|value|address|detail)))\b",
    re.IGNORECASE,
)

# So many examples that say nothing else make a yes or a no, however many reasons stand beside them.
MIN_PLAIN: Final = 3


@lru_cache(maxsize=2048)
def edge_polarity(edge: EdgeHint) -> Polarity | None:
    """Returns the yes or no that an edge stands for; examples decide first, then the label, then the condition."""
    kinds = [kind for example in edge.examples if (kind := answer_polarity(example)) is not None]
    plain = sum(map(is_plain_polarity, edge.examples))
    if len(set(kinds)) == 1 and (len(kinds) * 3 >= len(edge.examples) or plain >= MIN_PLAIN):
        return kinds[0]
    if len(set(kinds)) > 1:
        return None
    words = essential_tokens(edge.label)
    if (kind := answer_polarity(edge.label)) is not None:
        return kind
    if len(edge.examples) > 1:
        # the author knew what callers say here: none of it is a yes or a no
        return None
    if words[:1] == ["not"]:
        return "no"
    described = edge.condition if edge.examples else f"{edge.label}. {edge.condition}"
    if _NEGATIVE.search(described):
        return "no"
    return "yes" if _POSITIVE.search(described) else None


def edges_for_answer(answer: Polarity, edges: Sequence[EdgeHint]) -> list[EdgeHint]:
    """Returns the edges a plain yes or no can mean; a denied fact ("is not the owner") only as a last resort."""
    found = [edge for edge in edges if edge_polarity(edge) == answer]
    if len(found) > 1 and not any(edge.examples for edge in edges):
        # "not coming" and "not sure yet"
        found = [edge for edge in found if not UNSURE.search(f"{edge.label}. {edge.condition}")]
    if found:
        return found
    undecided = [edge for edge in edges if edge_polarity(edge) is None]
    if len(undecided) == 1 and len(edges) > 2 and not any(edge.examples for edge in edges):
        return undecided if answer == "yes" else []
    is_plain = not any(edge.examples for edge in edges)
    if len(edges) == 2 and len(undecided) == 1 and (is_plain or _are_about_the_same(*edges)):
        return undecided
    denied = [edge for edge in undecided if _NEGATED_FACT.search(f"{edge.label}. {edge.condition}")]
    if len(undecided) != 2 or len(denied) != 1:
        return []
    return denied if answer == "no" else [edge for edge in undecided if edge not in denied]


def _are_about_the_same(one: EdgeHint, other: EdgeHint) -> bool:
    """Returns True for pairs like "owns the house" and "does not own the house"."""
    words = [
        {*content_stems(edge.label), *content_stems(edge.condition, extra_stop=CONDITION_STOP)} - NEGATIONS
        for edge in (one, other)
    ]
    return bool(words[0] & words[1])
