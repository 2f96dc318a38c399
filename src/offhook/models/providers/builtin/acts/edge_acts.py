"""The acts that take an edge, by what its author writes that callers say there."""

import re
from collections.abc import Callable
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values
from offhook.models.providers.builtin.acts.classifier import ActOdds, CallerAct
from offhook.models.providers.builtin.edge_polarity import edge_polarity

# Acts that mean the same whatever a call is about. The others say something of their own: a day, a wish.
_PLAIN_ACTS: Final[tuple[CallerAct, ...]] = ("yes", "no", "leave", "later", "person")
_MIN_ODDS: Final = 0.5
# Of an edge's examples.
_MIN_SHARE: Final = 0.25
_NEARLY_ALL: Final = 0.8
# Who leaves has not said that: it is taken by its own words only.
_OPTS_OUT: Final = re.compile(
    r"\b(?:call(?:ing|ed)? me|call(?:ed)? again|list|opt|my number|no more calls)\b", re.IGNORECASE
)
_POLARITIES: Final = ("yes", "no")


def acts_of_edge(edge: EdgeHint, odds_of: Callable[[str], ActOdds]) -> frozenset[CallerAct]:
    """Returns the acts that enough of an edge's examples are; none for an edge without examples."""
    if opts_out(edge):
        return frozenset()
    found = [odds_of(example) for example in edge.examples]
    return frozenset(
        act
        for act in _PLAIN_ACTS
        if found
        and _may_take(edge, act)
        and sum(odds.of(act) >= _MIN_ODDS for odds in found) >= _MIN_SHARE * len(found)
    )


def does_only(edge: EdgeHint, act: CallerAct, odds_of: Callable[[str], ActOdds]) -> bool:
    """Returns True for an edge of which nearly all examples are one act: it is drawn for nothing else."""
    share = sum(odds_of(example).of(act) >= _MIN_ODDS for example in edge.examples)
    return bool(edge.examples) and share >= _NEARLY_ALL * len(edge.examples)


def _may_take(edge: EdgeHint, act: CallerAct) -> bool:
    if act in _POLARITIES:
        return edge_polarity(edge) == act
    if act == "person":
        return edge_matching.is_person(edge)
    # "this number is fine" and "next year" are no goodbyes where a number or a day is asked for
    return edge.is_final and not edge_values.asked_value_kinds(edge) and not edge_matching.takes_any_answer(edge)


def opts_out(edge: EdgeHint) -> bool:
    """Returns True for the edge of callers who are not to be called again."""
    return sum(_OPTS_OUT.search(example) is not None for example in edge.examples) * 2 > len(edge.examples)
