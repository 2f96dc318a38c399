"""Matches the caller's words to an edge: scores a node's edges by label, condition and examples. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.edge_polarity import UNSURE, edge_polarity, edges_for_answer
from offhook.models.providers.builtin.edge_topics import choose_topic
from offhook.models.providers.builtin.edge_values import MIN_SCALE, scale_of_edges, value_score
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.idioms import idiom_score
from offhook.models.providers.builtin.english.numbers.ratings import drop_numbers, rating_in
from offhook.models.providers.builtin.english.overlap import EXACT, NEGATIONS, phrase_score, word_overlap
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.questions import asks_question, is_about_question
from offhook.models.providers.builtin.english.words import (
    CONDITION_STOP,
    Polarity,
    answer_polarity,
    content_stems,
    essential_tokens,
    is_plain_polarity,
    word_tokens,
)
from offhook.models.providers.builtin.meaning import UNKNOWN_MEANING, SentenceMeaning

MIN_SCORE: Final = 0.45
MIN_LEAD: Final = 0.06
# Of the meaning, where words do not decide.
MIN_LEAD_IN_MEANING: Final = 0.1
_ALIKE: Final = 0.4
SURE_BESIDE: Final = 0.62
_LABEL_WEIGHT: Final = 0.95
_CONDITION_WEIGHT: Final = 0.8
_SAME_POLARITY: Final = 0.25
_OPPOSITE_POLARITY: Final = 0.5
_POLARITY_SCORE: Final = 0.4
_STRANGERS: Final = 0.5
# Say when, not what: alone they choose nothing.
_WHEN: Final = frozenset({"today", "tomorrow", "tonight", "week", "month", "year", "yet"})

_HIGHEST: Final = re.compile(
    r"\b(?:the (?:best|highest|top|maximum)(?: (?:one|score|mark|rating|possible|number|you|there))*|full marks|top marks|maximum)\b",
    re.IGNORECASE,
)
_LOWEST: Final = re.compile(
    r"\b(?:the (?:worst|lowest|bottom|minimum)(?: (?:one|score|mark|rating|possible|number|you|there))*|minimum)\b",
    re.IGNORECASE,
)
_UNDECIDED: Final = re.compile(r"\bnot (?:quite |really |so |too |entirely )?(?:sure|certain)\b", re.IGNORECASE)
_CLOSES: Final = re.compile(
    r"\b(?:nothing(?: else)?(?! in particular| special)|not (?:need|want) anything|no more|goodbye|end the (?:call|conversation)|hang up|is (?:done|finished)|not interested|wants? to stop)\b",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(
    r"\b(?:talk|speak|transfer\w*|connect\w*|put through)\b.{0,20}\b(?:person|human|agent|representative|operator|someone|colleague|staff|supervisor|whoever|somebody in charge)\b|\b(?:some(?:one|body)|a person|a human) (?:could |can |please |to )*(?:call|ring|phone) me\b",
    re.IGNORECASE,
)
_GAVE_NUMBER: Final = re.compile(
    r"\b(?:gave|gives|given|said|says|named|names) (?:a|the|one|their) (?:number|rating|score)\b", re.IGNORECASE
)
_SAYS_UNSURE: Final = re.compile(
    r"\b(?:not sure|unsure|(?:do not|can not) (?:know|say)(?: yet)?|depends|might|maybe|have to see|let you know)\b"
)
_SAYS_YES: Final = re.compile(r"\b(?:yes|yeah|yep|yup|absolutely)\b")
_SAYS_NO: Final = re.compile(r"\b(?:no|nope|nah)\b")
_OTHERWISE: Final = re.compile(
    r"^(otherwise|(the )?(caller|guest|customer|user|patient|person|they) (names?|says?|mentions?|chooses?|gives?) (something|anything) else|anything else|any other|everything else|in (all|any) other|default|fallback|none of (the (above|others?)|these (apply|match|fit)))\b",
    re.IGNORECASE,
)
_ELSE: Final = re.compile(
    r"\b(otherwise|something else|anything else|any other|none of the (above|others?)|fallback)\b", re.IGNORECASE
)
_ALWAYS: Final = re.compile(
    r"^\W*$|^(always|true|default|next|continue|proceed|unconditional(ly)?|immediately|any ?way|done|go on)\W*$"
    r"|^(always|immediately|directly|right after|after (the )?(greeting|introduction|message|saying))\b",
    re.IGNORECASE,
)
# Conditions that any answer meets, and conditions that need an expressed wish, which an answer alone is not.
_ANSWERED: Final = re.compile(
    r"\b(answer(s|ed)?|respon(d|ds|ded|se)|repl(y|ies|ied)|(has|have|had|was|were|been) "
    r"(said|told|given|named|explained|described|provided|shared|stated|mentioned|chosen|picked|collected|gathered|asked)|"
    r"gave|given|gives|tells|told|said|says|provides?|provided|collected|gathered|named|describe[sd]|explain(?:s|ed)|chose|chosen|chooses|"
    r"pick(?:s|ed)|select(?:s|ed)|mention(?:s|ed)|share[sd]|state[sd]|received|noted|known|captured|recorded|obtained|got|done|whatever|after (the|they|he|she))\b",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    r"\b(wants?|would like|wish(es)?|needs?|asks? (for|to|about|when|whether|if)|goodbye|bye|hangs? up|"
    r"(end|ends|finish|finishes|close|closes) the|is (done|finished|ready to (end|go)))\b",
    re.IGNORECASE,
)


_CHANGE: Final = re.compile(
    r"\b(?:(?:another|different|other) (?:day|time|date|slot|one|number|address|name)|changes?|correct\w*|wrong(?! number)|move|reschedule)\b(?! (?:order|call)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EdgeMatch:
    """The best edge, its confidence (0..1), and True if a value (day, time, number) decided it."""

    edge: EdgeHint
    score: float
    is_by_value: bool = False


def is_unconditional(edge: EdgeHint) -> bool:
    """Returns True for an edge taken without a question: its condition is "always", "next" or the like."""
    return _ALWAYS.search(edge.condition.strip()) is not None


def takes_any_answer(edge: EdgeHint) -> bool:
    """Returns True for an edge that any answer takes."""
    described = edge.condition if edge.examples else f"{edge.label}. {edge.condition}"
    answered, wish = _ANSWERED.search(described), _WISH.search(described)
    # "said what they need" is an answer, "wants to be told" is a wish
    return answered is not None and (wish is None or answered.start() < wish.start())


def takes_number(edge: EdgeHint) -> bool:
    return _GAVE_NUMBER.search(edge.condition) is not None


def requires_wish(edge: EdgeHint) -> bool:
    """Returns True for an edge that needs an expressed wish."""
    return _WISH.search(f"{edge.label}. {edge.condition}") is not None


def is_otherwise(edge: EdgeHint) -> bool:
    return _OTHERWISE.search(edge.condition.strip()) is not None or _OTHERWISE.search(edge.label.strip()) is not None


def fallback_edge(edges: Sequence[EdgeHint]) -> EdgeHint | None:
    """Returns the edge for everything else, when there is exactly one."""
    found = [edge for edge in edges if is_otherwise(edge)]
    found = found or [edge for edge in edges if _ELSE.search(f"{edge.label}. {edge.condition}")]
    return found[0] if len(found) == 1 else None


def is_about_change(edge: EdgeHint) -> bool:
    """Returns True for an edge that a caller takes who wants something else than was said."""
    return _CHANGE.search(f"{edge.label}. {edge.condition}") is not None and edge_polarity(edge) != "yes"


def without_denied(denied: str, edges: Sequence[EdgeHint]) -> tuple[EdgeHint, ...]:
    """Returns the edges without those of what the caller does not want: "do not cancel it"."""
    meant = {
        match.edge.tool
        for match in rank_edges(denied, edges)
        if match.score >= SURE_BESIDE and edge_polarity(match.edge) != "no"
    }
    return tuple(edge for edge in edges if edge.tool not in meant)


def edge_of_phrase(heard: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge of which an author wrote what was said, word by word."""
    spoken = essential_tokens(heard)
    found = [
        edge for edge in edges if any(essential_tokens(phrase) == spoken for phrase in (edge.label, *edge.examples))
    ]
    return EdgeMatch(found[0], EXACT) if spoken and len(found) == 1 else None


def question_edges(edges: Sequence[EdgeHint]) -> tuple[EdgeHint, ...]:
    """Returns the edges that a question takes ("when are you open")."""
    return tuple(edge for edge in edges if is_about_question(edge.condition) or any(map(asks_question, edge.examples)))


def choose_edge(text: str, edges: Sequence[EdgeHint], meaning: SentenceMeaning = UNKNOWN_MEANING) -> EdgeMatch | None:
    """Returns the edge that fits best, or None when none fits or two fit equally well."""
    if (onto_scale := _choose_on_scale(text, edges)) is not None:
        return onto_scale
    if len(scale := scale_of_edges(edges)) >= MIN_SCALE:
        if any(number in scale for number in spoken_values.all_numbers(text)):
            # "one is the best, right?"
            return None
        # "there were five of us" rates nothing
        text = drop_numbers(text)
    if (beside := _choose_beside_polarity(text, edges)) is not None:
        return beside
    if _UNDECIDED.search(text) and len(set(content_stems(text)) - NEGATIONS) < 3:
        unsure = [edge for edge in edges if _UNDECIDED.search(edge.condition)]
        return EdgeMatch(unsure[0], SURE_BESIDE) if unsure else None
    unsure = [edge for edge in edges if UNSURE.search(f"{edge.label}. {edge.condition}")]
    if len(unsure) == 1 and _SAYS_UNSURE.search(" ".join(word_tokens(text))):
        return EdgeMatch(unsure[0], SURE_BESIDE)
    ranked = sorted(rank_edges(text, edges), key=lambda choice: -choice.score)
    if not ranked or ranked[0].score < MIN_SCORE:
        return (
            _choose_by_meaning(text, edges, meaning)
            or _choose_by_polarity(text, edges)
            or _choose_by_label(text, edges)
            or _choose_by_topic(text, edges, meaning)
        )
    if len(ranked) > 1 and ranked[0].score - ranked[1].score < MIN_LEAD:
        if any(edge.examples for edge in edges):
            return _choose_among_tied(text, ranked, meaning)
        return _choose_by_polarity(text, edges) or _choose_by_topic(text, edges, meaning)
    return ranked[0]


def _choose_among_tied(text: str, ranked: Sequence[EdgeMatch], meaning: SentenceMeaning) -> EdgeMatch | None:
    """Returns that of the edges with the most words in common which is also clearly nearest in meaning."""
    tied = [match for match in ranked if ranked[0].score - match.score < MIN_LEAD]
    near = sorted(
        ((meaning.nearest(text, (*match.edge.examples, match.edge.label)), -at) for at, match in enumerate(tied))
    )
    (best, at), (second, _) = near[-1], near[-2]
    return tied[-at] if best >= _ALIKE and best - second >= MIN_LEAD_IN_MEANING else None


def _choose_by_polarity(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge for "no, because …": the reason matches no edge, the no does."""
    said = polarity_of(text)
    if said is None and not any(edge.examples for edge in edges):
        # speech recognition writes no commas: "that is not much yes I would like that"
        words = " ".join(word_tokens(text))
        said = "yes" if _SAYS_YES.search(words) and not _SAYS_NO.search(words) else None
    fitting = edges_for_answer(said, edges) if said is not None else []
    return EdgeMatch(fitting[0], MIN_SCORE) if len(fitting) == 1 else None


def _choose_by_label(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge whose short label was said, where an author gave no examples: "right now please" and "now"."""
    if any(edge.examples for edge in edges):
        return None
    said = f" {' '.join(word_tokens(text))} "
    found = [edge for edge in edges if f" {' '.join(word_tokens(edge.label))} " in said and edge.label.strip()]
    return EdgeMatch(found[0], MIN_SCORE) if len(found) == 1 and len(edges) > 1 else None


def _choose_by_topic(text: str, edges: Sequence[EdgeHint], meaning: SentenceMeaning) -> EdgeMatch | None:
    said = polarity_of(text)
    candidates = [
        edge for edge in edges if not is_otherwise(edge) and not (said and edge_polarity(edge) not in (None, said))
    ]
    found = choose_topic(text, candidates, meaning, is_open=len(candidates) < len(edges)) if len(edges) > 1 else None
    return None if found is None else EdgeMatch(found, MIN_SCORE)


def _choose_on_scale(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge of the one number that is said, where the edges' labels are numbers or "the highest"."""
    scale = scale_of_edges(edges)
    if len(scale) < MIN_SCALE:
        return None
    rated = rating_in(text, scale)
    if rated is not None:
        return EdgeMatch(scale[rated], EXACT, is_by_value=True)
    if any(number in scale for number in spoken_values.all_numbers(text)):
        return None
    if _HIGHEST.search(text):
        return EdgeMatch(scale[max(scale)], SURE_BESIDE)
    return EdgeMatch(scale[min(scale)], SURE_BESIDE) if _LOWEST.search(text) else None


def is_closing(edge: EdgeHint) -> bool:
    return _CLOSES.search(f"{edge.label}. {edge.condition}") is not None


def is_person(edge: EdgeHint) -> bool:
    """Returns True for an edge to a person."""
    return asks_for_person(f"{edge.label}. {edge.condition}")


def asks_for_person(text: str) -> bool:
    return _PERSON.search(text) is not None


def person_edge(edges: Sequence[EdgeHint]) -> EdgeHint | None:
    """Returns the edge to a person, when there is exactly one."""
    found = [edge for edge in edges if is_person(edge)]
    return found[0] if len(found) == 1 else None


def closing_edge(edges: Sequence[EdgeHint]) -> EdgeHint | None:
    """Returns the edge of a caller who needs nothing more, when there is exactly one."""
    found = [edge for edge in edges if is_closing(edge)]
    return found[0] if len(found) == 1 else None


def _choose_beside_polarity(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge for what follows a yes or a no, where it says more: "no, I need to change the one I have"."""
    first, comma, rest = text.partition(",")
    kind = answer_polarity(first)
    if (
        not comma
        or kind is None
        or len(word_tokens(first)) > 3
        or not content_stems(rest)
        or polarity_of(rest) is not None
    ):
        return None
    ranked = sorted(rank_edges(rest, edges), key=lambda choice: -choice.score)
    if (
        not ranked
        or ranked[0].score < SURE_BESIDE
        or (len(ranked) > 1 and ranked[0].score - ranked[1].score < MIN_LEAD)
    ):
        return None
    return ranked[0] if edge_polarity(ranked[0].edge) in (None, kind) else None


def rank_edges(text: str, edges: Sequence[EdgeHint]) -> list[EdgeMatch]:
    """Scores every edge, in the order of ``edges``."""
    exact = _exact_match(text, edges)
    if exact is not None:
        return [EdgeMatch(edge, EXACT if edge is exact else 0.0) for edge in edges]
    if not essential_tokens(text):
        return [EdgeMatch(edge, 0.0) for edge in edges]
    said = polarity_of(text)
    if said is not None and (
        is_plain_polarity(text) or (answer_polarity(text) != said and len(content_stems(text)) < 5)
    ):
        fitting = edges_for_answer(said, edges)
        if len(fitting) == 1:
            return [EdgeMatch(edge, 0.9 if edge in fitting else 0.0) for edge in edges]
    weights = word_weights(edges)
    return [_score_edge(text, edge, edges, weights, said) for edge in edges]


def _exact_match(text: str, edges: Sequence[EdgeHint]) -> EdgeHint | None:
    """Returns the one edge with an example or a label that says exactly this."""
    for written in (word_tokens, essential_tokens):
        said = written(text)
        found = [
            edge for edge in edges if said and any(written(phrase) == said for phrase in (edge.label, *edge.examples))
        ]
        if len(found) == 1:
            return found[0]
    return None


def _score_edge(
    text: str, edge: EdgeHint, edges: Sequence[EdgeHint], weights: dict[str, float], said: Polarity | None
) -> EdgeMatch:
    by_words = words_score(text, edge, weights)
    by_value = value_score(text, edge, edges)
    score = max(by_words, by_value, idiom_score(text, f"{edge.label}. {edge.condition}"))
    own = edge_polarity(edge) if said is not None else None
    if own == said and said is not None:
        score = max(score, _POLARITY_SCORE)
    if own is not None:
        # "no" decides between two edges that share a word
        score += _SAME_POLARITY if own == said else -_OPPOSITE_POLARITY
    return EdgeMatch(edge, max(score, 0.0), by_value > by_words)


def word_weights(edges: Sequence[EdgeHint]) -> dict[str, float]:
    """Weighs words: rare words among the edges count, words that every edge has do not."""
    count = Counter(
        word
        for edge in edges
        for word in {
            *(word for phrase in (edge.label, *edge.examples) for word in content_stems(phrase)),
            *content_stems(edge.condition, extra_stop=CONDITION_STOP),
        }
    )
    weights = {word: 0.2 + math.log(1 + len(edges) / seen) for word, seen in count.items()}
    return {word: min(weight, 0.4) if word in _WHEN else weight for word, weight in weights.items()}


def words_score(text: str, edge: EdgeHint, weights: dict[str, float]) -> float:
    spoken = content_stems(text)
    best = 0.0
    for weight, phrase in ((_LABEL_WEIGHT, edge.label), *((1.0, example) for example in edge.examples)):
        best = max(best, weight * phrase_score(text, spoken, phrase, weights))
    condition = content_stems(edge.condition, extra_stop=CONDITION_STOP)
    return max(best, _CONDITION_WEIGHT * word_overlap(spoken, condition, weights, is_condition=True))


def _choose_by_meaning(text: str, edges: Sequence[EdgeHint], meaning: SentenceMeaning) -> EdgeMatch | None:
    """Returns the edge nearest in meaning, where no words decide; None when all are strangers or two are as near."""
    if len(content_stems(text)) < 2 or polarity_of(text) is not None or NEGATIONS & set(content_stems(text)):
        return None
    near = sorted(
        (
            EdgeMatch(
                edge,
                max(
                    meaning.nearest(text, edge.examples),
                    _CONDITION_WEIGHT * meaning.similarity(text, edge.condition),
                    meaning.similarity(text, edge.label),
                ),
            )
            for edge in edges
        ),
        key=lambda match: -match.score,
    )
    if not near or near[0].score < _STRANGERS or (len(near) > 1 and near[0].score - near[1].score < MIN_LEAD):
        return None
    return near[0]
