"""What speaks for each edge of a node, and for none of them, in what a caller has said. Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values
from offhook.models.providers.builtin.acts.classifier import ActOdds, CallerAct
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import assent
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.meaning import SentenceMeaning

Numbers = npt.NDArray[np.float32]
EDGE_FEATURES: Final = (
    "nearest_example",
    "nearest_example_of_standing",
    "nearest_example_of_clause",
    "condition",
    "label",
    "three_nearest",
    "lead",
    "words",
    "words_of_clause",
    "value",
    "lacks_value",
    "yes_to_yes",
    "yes_but_to_yes",
    "no_to_yes",
    "no_to_no",
    "yes_to_no",
    "yes_or_no_to_neither",
    "act",
    "same_polarity",
    "opposite_polarity",
    "negated_otherwise",
    "denied",
    "asked_and_final",
    "final",
    "person",
    "closing",
    "any_answer",
)
NONE_FEATURES: Final = (
    "always",
    "question",
    "wait",
    "unclear",
    "answer",
    "request",
    "change",
    "yes_or_no",
    "leaves",
    "only_asks",
    "reserved",
    "corrects",
    "one_word",
    "no_word",
    "nearest_of_all",
)
_OWN_ACTS: Final[tuple[CallerAct, ...]] = ("leave", "later", "person")
_CLAUSE: Final = re.compile(r"[,.;!?\u2026]+|\bbut\b|\bbecause\b", re.IGNORECASE)
_MIN_CLAUSE_WORDS: Final = 2
_NEAREST: Final = 3


class TurnFeatures(NamedTuple):
    """``edges``: a row of EDGE_FEATURES for each edge; ``none``: the NONE_FEATURES."""

    edges: Numbers
    none: Numbers


def turn_features(
    said: CallerUtterance,
    edges: Sequence[EdgeHint],
    acts: Sequence[frozenset[CallerAct]],
    odds: ActOdds,
    meaning: SentenceMeaning,
) -> TurnFeatures:
    """Returns what is known of an answer to a node with these edges; ``acts`` are those that take each of them."""
    clauses = [clause.strip() for clause in _CLAUSE.split(said.heard)]
    clauses = [clause for clause in clauses if len(word_tokens(clause)) >= _MIN_CLAUSE_WORDS]
    rows = [_edge_row(said, clauses, edge, edges, own, odds, meaning) for edge, own in zip(edges, acts, strict=True)]
    nearest = [max(row[:3]) for row in rows]
    for at, row in enumerate(rows):
        row[EDGE_FEATURES.index("lead")] = nearest[at] - max((*nearest[:at], *nearest[at + 1 :]), default=0.0)
    table = np.array(rows, dtype=np.float32).reshape(len(rows), len(EDGE_FEATURES))
    return TurnFeatures(table, np.array(_none_row(said, odds, max(nearest, default=0.0)), dtype=np.float32))


def _edge_row(
    said: CallerUtterance,
    clauses: Sequence[str],
    edge: EdgeHint,
    edges: Sequence[EdgeHint],
    acts: frozenset[CallerAct],
    odds: ActOdds,
    meaning: SentenceMeaning,
) -> list[float]:
    standing = said.statement or said.standing or said.heard
    near = [meaning.similarity(said.heard, example) for example in edge.examples]
    closest = edge.examples[near.index(max(near))] if near else edge.condition
    weights = edge_matching.word_weights(edges)
    polarity = edge_polarity(edge)
    is_yes, is_no = polarity == "yes", polarity == "no"
    value = edge_values.value_score(standing, edge, edges)
    return [
        max(near, default=0.0),
        meaning.nearest(standing, edge.examples),
        max((meaning.nearest(clause, edge.examples) for clause in clauses), default=0.0),
        meaning.similarity(said.heard, edge.condition),
        meaning.similarity(said.heard, edge.label),
        float(np.mean(sorted(near)[-_NEAREST:])) if near else 0.0,
        0.0,
        edge_matching.words_score(standing, edge, weights),
        max((edge_matching.words_score(clause, edge, weights) for clause in clauses), default=0.0),
        value,
        float(bool(edge_values.asked_value_kinds(edge)) and not value),
        is_yes * odds.of("yes"),
        is_yes * odds.of("yes_but"),
        is_yes * odds.of("no"),
        is_no * odds.of("no"),
        is_no * odds.of("yes"),
        (polarity is None) * odds.of("yes", "no"),
        odds.of(*(act for act in _OWN_ACTS if act in acts)),
        float(polarity is not None and said.polarity == polarity),
        float(polarity is not None and said.polarity not in (None, polarity)),
        float(bool(NEGATIONS & set(content_stems(said.heard))) != bool(NEGATIONS & set(content_stems(closest)))),
        edge_matching.words_score(said.denied, edge, weights) if said.denied else 0.0,
        edge.is_final * odds.of("question"),
        float(edge.is_final),
        float(edge_matching.is_person(edge)),
        float(edge_matching.is_closing(edge)),
        float(edge_matching.takes_any_answer(edge)),
    ]


def _none_row(said: CallerUtterance, odds: ActOdds, nearest: float) -> list[float]:
    words = len(set(content_stems(said.heard)))
    return [
        1.0,
        odds.of("question"),
        odds.of("wait"),
        odds.of("unclear"),
        odds.of("answer"),
        odds.of("request"),
        odds.of("change"),
        odds.of("yes", "no", "yes_but"),
        odds.of(*_OWN_ACTS),
        float(said.is_question and not said.statement),
        float(assent.has_reservation(said.heard)),
        float(said.is_correction or said.is_modified),
        float(words == 1),
        float(words == 0),
        nearest,
    ]
