"""Conditions that say the opposite of what they said. Pure.

The offline agent chooses transitions by their examples first, so that scenarios do not notice; a model reads the condition.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019]\w+)?")
_NEGATIONS: Final = frozenset({"not", "no", "never", "without", "neither", "cannot"})
# Words beside a negation, which come and go with it.
_HELPERS: Final = frozenset({"do", "doe", "did", "a", "an", "any", "ye", "can"})
_OPPOSITES: Final = {
    "disagree": "agree",
    "decline": "accept",
    "refuse": "accept",
    "reject": "accept",
    "deny": "confirm",
    "denie": "confirm",
    "wrong": "right",
    "incorrect": "correct",
    "unavailable": "available",
    "unknown": "known",
    "invalid": "valid",
    "after": "before",
    "less": "more",
    "fewer": "more",
    "failed": "succeeded",
}


def find_reversed_conditions(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields (edge, condition) where only a negation came or went, or a word became its opposite, and the examples are as
    before: they contradict the condition now, or did before."""
    old = _conditions(before)
    for edge_id, (condition, examples) in _conditions(after).items():
        was, were = old.get(edge_id, ("", None))
        if not examples or examples != were or was == condition:
            continue
        (one, is_negated), (other, was_negated) = _parse(condition), _parse(was)
        if one and one == other and is_negated != was_negated:
            yield edge_id, condition


def _conditions(definition: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    edges = definition.get("edges")
    found = {}
    for edge in edges if isinstance(edges, list) else ():
        data = edge.get("data") if isinstance(edge, Mapping) else None
        if isinstance(data, Mapping) and isinstance(data.get("condition"), str):
            found[str(edge.get("id"))] = (data["condition"], data.get("examples"))
    return found


def _parse(condition: str) -> tuple[list[str], bool]:
    """Returns the words without negations and endings, and whether the sum of them is a negation."""
    words: list[str] = []
    is_negated = False
    for found in _WORD.findall(condition.lower().replace("\u2019", "'")):
        word = found.removesuffix("n't")
        if word != found:
            is_negated = not is_negated
        elif found in _NEGATIONS:
            is_negated = not is_negated
            continue
        word = re.sub(r"^has$", "have", word).removesuffix("s")
        if word in _OPPOSITES:
            is_negated = not is_negated
            word = _OPPOSITES[word]
        if word not in _HELPERS:
            words.append(word)
    return words, is_negated
