"""Matches the caller's words to an edge: scores a node's edges by label, condition and examples. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import spoken_values
from offhook.models.providers.builtin.words import (
    CONDITION_STOP,
    Polarity,
    answer_polarity,
    content_stems,
    essential_tokens,
    is_plain_polarity,
    stem_word,
    word_tokens,
)

MIN_SCORE: Final = 0.45
MIN_LEAD: Final = 0.06
_EXACT: Final = 1.0
_CONTAINED: Final = 0.78
_LABEL_WEIGHT: Final = 0.95
_CONDITION_WEIGHT: Final = 0.8
_SAME_POLARITY: Final = 0.25
_OPPOSITE_POLARITY: Final = 0.5
_VALUE_SCORE: Final = 0.6
_NEGATED: Final = 0.4
_NEGATIONS: Final = frozenset({"not", "no", "never"})

_NEGATIVE: Final = re.compile(
    r"\b((does not|do not|did not|doesn't|don't|didn't) (want|wish|like|agree|accept|need|confirm|approve|consent|care)|not interested|"
    r"declin\w+|refus\w+|reject\w+|disagree\w*|says no|answers no)\b",
    re.IGNORECASE,
)
_NEGATED_FACT: Final = re.compile(r"\b(not|never|no|isn't|hasn't|doesn't|don't|didn't|wrong|new)\b", re.IGNORECASE)
_POSITIVE: Final = re.compile(
    r"\b(agree\w*|accept\w*|confirm\w*|approv\w+|says yes|answers yes|is interested|is happy|consent\w*|correct)\b",
    re.IGNORECASE,
)
_OTHERWISE: Final = re.compile(
    r"^(otherwise|anything else|any other|everything else|in (all|any) other|default|fallback|none of)\b", re.IGNORECASE
)
_ELSE: Final = re.compile(r"\b(otherwise|something else|anything else|any other|none of|fallback)\b", re.IGNORECASE)
_ALWAYS: Final = re.compile(
    r"^\W*$|^(always|true|default|next|continue|proceed|unconditional(ly)?|immediately|any ?way|done|go on)\W*$"
    r"|^(always|immediately|directly|right after|after (the )?(greeting|introduction|message|saying))\b",
    re.IGNORECASE,
)
# Conditions that any answer meets, and conditions that need an expressed wish, which an answer alone is not.
_ANSWERED: Final = re.compile(
    r"\b(answer(s|ed)?|respon(d|ds|ded|se)|repl(y|ies|ied)|(has|have|had|was|were|been) "
    r"(said|told|given|named|explained|described|provided|shared|stated|mentioned|chosen|picked|collected|gathered|asked)|"
    r"gave|gives|tells|told|provides|provided|collected|gathered|whatever|after (the|they|he|she))\b",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    r"\b(wants?|would like|wish(es)?|needs?|asks? (for|to|about|when|whether|if)|goodbye|bye|hangs? up|"
    r"(end|ends|finish|finishes|close|closes) the|is (done|finished|ready to (end|go)))\b",
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
    return _ANSWERED.search(edge.condition) is not None and not requires_wish(edge)


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


def edge_polarity(edge: EdgeHint) -> Polarity | None:
    """Returns the yes or no that an edge stands for; examples decide first, then the label, then the condition."""
    kinds = [kind for example in edge.examples if (kind := answer_polarity(example)) is not None]
    if len(set(kinds)) == 1 and len(kinds) * 3 >= len(edge.examples):
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
    if _NEGATIVE.search(edge.condition):
        return "no"
    return "yes" if _POSITIVE.search(edge.condition) else None


def _for_answer(answer: Polarity, edges: Sequence[EdgeHint]) -> list[EdgeHint]:
    """Returns the edges a plain yes or no can mean; a denied fact ("is not the owner") only as a last resort."""
    found = [edge for edge in edges if edge_polarity(edge) == answer]
    if found:
        return found
    undecided = [edge for edge in edges if edge_polarity(edge) is None]
    if len(edges) == 2 and len(undecided) == 1 and _are_about_the_same(*edges):
        return undecided
    denied = [edge for edge in undecided if _NEGATED_FACT.search(edge.condition)]
    if len(undecided) != 2 or len(denied) != 1:
        return []
    return denied if answer == "no" else [edge for edge in undecided if edge not in denied]


def _are_about_the_same(one: EdgeHint, other: EdgeHint) -> bool:
    """Returns True for pairs like "owns the house" and "does not own the house"."""
    words = [
        {*content_stems(edge.label), *content_stems(edge.condition, extra_stop=CONDITION_STOP)} - _NEGATIONS
        for edge in (one, other)
    ]
    return bool(words[0] & words[1])


def choose_edge(text: str, edges: Sequence[EdgeHint]) -> EdgeMatch | None:
    """Returns the edge that fits best, or None when none fits or two fit equally well."""
    ranked = sorted(rank_edges(text, edges), key=lambda choice: -choice.score)
    if not ranked or ranked[0].score < MIN_SCORE:
        # "no, because …": the reason matches no edge, the no does
        said = answer_polarity(text)
        fitting = _for_answer(said, edges) if said is not None else []
        return EdgeMatch(fitting[0], MIN_SCORE) if len(fitting) == 1 else None
    if len(ranked) > 1 and ranked[0].score - ranked[1].score < MIN_LEAD:
        return None
    return ranked[0]


def rank_edges(text: str, edges: Sequence[EdgeHint]) -> list[EdgeMatch]:
    """Scores every edge, in the order of ``edges``."""
    exact = _exact_match(text, edges)
    if exact is not None:
        return [EdgeMatch(edge, _EXACT if edge is exact else 0.0) for edge in edges]
    if not essential_tokens(text):
        return [EdgeMatch(edge, 0.0) for edge in edges]
    said = answer_polarity(text)
    if said is not None and is_plain_polarity(text):
        fitting = _for_answer(said, edges)
        if len(fitting) == 1:
            return [EdgeMatch(edge, 0.9 if edge in fitting else 0.0) for edge in edges]
    weights = _word_weights(edges)
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
    by_words = _words_score(text, edge, weights)
    by_value = _value_score(text, edge, edges)
    score = max(by_words, by_value, _idiom_score(text, edge))
    own = edge_polarity(edge) if said is not None else None
    if own is not None:
        # "no" decides between two edges that share a word
        score += _SAME_POLARITY if own == said else -_OPPOSITE_POLARITY
    return EdgeMatch(edge, max(score, 0.0), by_value > by_words)


def _word_weights(edges: Sequence[EdgeHint]) -> dict[str, float]:
    """Weighs words: rare words among the edges count, words that every edge has do not."""
    count = Counter(
        word
        for edge in edges
        for word in {
            *(word for phrase in (edge.label, *edge.examples) for word in content_stems(phrase)),
            *content_stems(edge.condition, extra_stop=CONDITION_STOP),
        }
    )
    return {word: 0.2 + math.log(1 + len(edges) / seen) for word, seen in count.items()}


def _words_score(text: str, edge: EdgeHint, weights: dict[str, float]) -> float:
    spoken = content_stems(text)
    whole = " ".join(essential_tokens(text))
    best = 0.0
    for weight, phrase in ((_LABEL_WEIGHT, edge.label), *((1.0, example) for example in edge.examples)):
        best = max(best, weight * _phrase_score(whole, spoken, phrase, weights))
    condition = content_stems(edge.condition, extra_stop=CONDITION_STOP)
    return max(best, _CONDITION_WEIGHT * _word_overlap(spoken, condition, weights, is_condition=True))


def _phrase_score(whole: str, spoken: list[str], phrase: str, weights: dict[str, float]) -> float:
    words = " ".join(essential_tokens(phrase))
    if words and words == whole:
        return _EXACT
    wanted = content_stems(phrase)
    if not set(wanted) - _NEGATIONS or not spoken:
        # a phrase of stop words only ("it is the", "and you") must match as a whole
        return _CONTAINED if words and f" {words} " in f" {whole} " and len(words.split()) > 1 else 0.0
    if set(wanted) == set(spoken):
        return 0.97
    if set(wanted) <= set(spoken) and not _is_negated(spoken, wanted):
        return _CONTAINED + min(0.15, 0.04 * len(wanted)) - min(0.2, 0.02 * (len(spoken) - len(wanted)))
    return _word_overlap(spoken, wanted, weights)


def _word_overlap(
    spoken: list[str], wanted: list[str], weights: dict[str, float], *, is_condition: bool = False
) -> float:
    """Returns the weighted share of common words: of both sides for a phrase, mostly the caller's for a condition."""
    common = set(spoken) & set(wanted)
    if not common - _NEGATIONS:
        return 0.0
    if _is_negated(spoken, wanted):
        spoken = [word for word in spoken if word not in _NEGATIONS]
        return _NEGATED * _word_overlap(spoken, wanted, weights, is_condition=is_condition)
    total = sum(weights.get(word, 1.0) for word in common)
    of_spoken = total / sum(weights.get(word, 1.0) for word in set(spoken))
    of_wanted = total / sum(weights.get(word, 1.0) for word in set(wanted))
    if is_condition:
        return of_spoken * 0.75 + min(of_wanted * 2, 1.0) * 0.25
    return 2 * of_spoken * of_wanted / (of_spoken + of_wanted)


def _is_negated(spoken: list[str], wanted: list[str]) -> bool:
    """Returns True when the caller says "not" and the phrase does not: "not so good" is not "very good"."""
    return bool(_NEGATIONS & set(spoken)) and not _NEGATIONS & set(wanted)


# Callers' wording and the wording of authors for the same edge.
_IDIOMS: Final = tuple(
    (re.compile(said), re.compile(described, re.IGNORECASE), score)
    for said, described, score in (
        (
            (
                r"\b(customer service|operator|(real|live) (person|agent)|human|representative|manager|supervisor|somebody|"
                r"someone|transfer me|(talk|speak) (to|with) (a|some))\b"
            ),
            r"\b(person|human|agent|representative|operator|someone|colleague|staff|transfer)\b",
            0.8,
        ),
        (
            (
                r"^(no )?(that is (all|it)|that was (all|it)|nothing( else| more)?|i do not (need|want) anything( else| more)?|never mind|nevermind|goodbye|bye( bye)?|"
                r"good bye|i am (done|finished)|just asking|wrong number)$"
            ),
            r"\b(nothing|no more|goodbye|end the|hang up|not need|not interested|finished|is done)\b",
            0.7,
        ),
        (
            (
                r"\b(busy|not (now|a good time)|bad time|later|another time|(in|at) a meeting|driving|call (me )?back|"
                r"no time)\b"
            ),
            r"\b(later|busy|bad moment|bad time|another time|no time|call ?back)\b",
            0.7,
        ),
    )
)


def _idiom_score(text: str, edge: EdgeHint) -> float:
    said, described = " ".join(essential_tokens(text)), f"{edge.label}. {edge.condition}"
    return max(
        (score for spoken, written, score in _IDIOMS if spoken.search(said) and written.search(described)), default=0.0
    )


_WEEKDAY_RANGE: Final = re.compile(r"\b(week ?days?|monday (to|through|till|until|and) friday)\b", re.IGNORECASE)
_WEEKEND: Final = re.compile(r"\b(weekends?|saturdays?|sundays?)\b", re.IGNORECASE)
_DAY: Final = re.compile(r"\b(days?|dates?|weekdays?|mon|tues|wednes|thurs|fri)(day)?\b", re.IGNORECASE)
_TIME: Final = re.compile(r"\b(times?|o'?clock|slot|morning|afternoon|evening)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\b(number|digits?|code|amount|rating|rate|score|how many|age)\b", re.IGNORECASE)


_BOOKING: Final = re.compile(
    r"\b(book|schedule|reserve|make)\b.*\b(appointment|visit|meeting|table|slot|call)\b", re.IGNORECASE
)
_EXISTING: Final = re.compile(r"\b(already|existing|cancel|move|change|reschedule)\b", re.IGNORECASE)
# A caller who names a day or a time wants to book, if nothing else fits.
_BOOKING_SCORE: Final = 0.5


def _value_score(text: str, edge: EdgeHint, edges: Sequence[EdgeHint]) -> float:
    """Scores a day, time or number that the edge asks for without naming this one."""
    described = f"{edge.label}. {edge.condition}"
    if any(_negates_value(word) for word in (edge.label, edge.condition)):
        return 0.0
    day = spoken_values.day_phrase(text)
    if day is not None:
        is_weekend = day.removeprefix("next ").removeprefix("this ").lower() in ("saturday", "sunday", "the weekend")
        if _WEEKEND.search(described) and not _WEEKDAY_RANGE.search(described):
            return _VALUE_SCORE + 0.1 if is_weekend else 0.0
        if is_weekend and _WEEKDAY_RANGE.search(described):
            return 0.0
        if _DAY.search(described):
            return _VALUE_SCORE
    time = spoken_values.time_of_day(text, may_be_lone=len(essential_tokens(text)) <= 3)
    if _TIME.search(described) and time:
        return _VALUE_SCORE
    if (
        (day or spoken_values.time_of_day(text, may_be_lone=False))
        and _BOOKING.search(described)
        and not _EXISTING.search(described)
    ):
        return _BOOKING_SCORE
    if (
        _NUMBER.search(described)
        and spoken_values.first_number(text) is not None
        and not _others_name_numbers(edge, edges)
    ):
        return _VALUE_SCORE
    return 0.0


def _negates_value(text: str) -> bool:
    return re.search(r"\b(another|different|other|none|not|no)\b", text, re.IGNORECASE) is not None


def _others_name_numbers(edge: EdgeHint, edges: Sequence[EdgeHint]) -> bool:
    """Returns True when labels are numbers: on a scale, a number without its own edge is no answer."""
    return any(spoken_values.first_number(other.label) is not None for other in edges if other is not edge) or (
        spoken_values.first_number(edge.label) is not None
    )


def asked_value_kinds(edge: EdgeHint) -> frozenset[str]:
    """Returns the kinds of value (``day``, ``time``) that take an edge."""
    described = f"{edge.label}. {edge.condition}"
    examples = edge.examples
    is_day = any(map(spoken_values.day_phrase, examples)) if examples else _DAY.search(described) is not None
    is_time = any(map(spoken_values.time_of_day, examples)) if examples else _TIME.search(described) is not None
    return frozenset(kind for kind, asked in (("day", is_day), ("time", is_time)) if asked)


def phrase_fit(text: str, phrases: Sequence[str]) -> float:
    """Returns how well words match the best of some phrases, 0..1."""
    if not essential_tokens(text):
        return 0.0
    spoken, whole = content_stems(text), " ".join(essential_tokens(text))
    return max((_phrase_score(whole, spoken, phrase, {}) for phrase in phrases), default=0.0)


def count_shared_words(text: str, other: str) -> int:
    """Counts the meaningful words that two texts share."""
    return len({stem_word(word) for word in content_stems(text)} & {stem_word(word) for word in content_stems(other)})
