"""How far a caller's words and an author's phrase say the same. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.words import content_stems, essential_tokens, stem_word

EXACT: Final = 1.0
CONTAINED: Final = 0.78
# One word of many says less: "cancel my order" is not "where is my order".
ONE_WORD: Final = 0.08
_NUMBERS: Final = frozenset(
    map(
        stem_word,
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh", "double", "triple"],
    )
)
MIN_EXAMPLE_DIGITS: Final = 3
NEGATED: Final = 0.4
_THIS: Final = re.compile(r"\bthis (?P<unit>year|month|week|spring|summer|fall|autumn|winter)\b")
NEGATIONS: Final = frozenset({"not", "no", "never"})
# So many words a "not" reaches.
MAX_REACH: Final = 3
_CLAUSES: Final = re.compile(r"[,.;!?]")


def phrase_score(text: str, spoken: list[str], phrase: str, weights: dict[str, float]) -> float:
    """Scores what a caller said, whose stems are ``spoken``, against an author's phrase, 0..1."""
    whole = " ".join(essential_tokens(text))
    words = " ".join(essential_tokens(phrase))
    if words and words == whole:
        return EXACT
    if (this := _THIS.search(words)) is not None and _says_next_only(whole, this["unit"]):
        return 0.0
    wanted = content_stems(phrase)
    if sum(word in _NUMBERS for word in wanted) >= MIN_EXAMPLE_DIGITS:
        # "the gate code is four four one two" is an example of any code
        wanted = [word for word in wanted if word not in _NUMBERS]
        spoken = [word for word in spoken if word not in _NUMBERS and not word.isdigit()]
    if not set(wanted) - NEGATIONS or not spoken:
        # a phrase of stop words only ("it is the", "and you") must match as a whole
        return CONTAINED if words and f" {words} " in f" {whole} " and len(words.split()) > 1 else 0.0
    if set(wanted) == set(spoken):
        return 0.97
    negates_same = _negated_stems(wanted) <= negated_stems(text)
    if set(wanted) <= set(spoken) and not _is_negated(spoken, wanted) and negates_same:
        lone = ONE_WORD if len(set(wanted)) == 1 else 0.0
        return CONTAINED + min(0.15, 0.04 * len(wanted)) - min(0.2, 0.02 * (len(spoken) - len(wanted))) - lone
    if not negates_same:
        spoken, wanted = ([word for word in words if word not in NEGATIONS] for words in (spoken, wanted))
        return NEGATED * word_overlap(spoken, wanted, weights)
    return word_overlap(spoken, wanted, weights)


def _says_next_only(text: str, unit: str) -> bool:
    """Returns True for "next year" where this one is meant."""
    return re.search(rf"\bnext {unit}\b", text) is not None and re.search(rf"\bthis {unit}\b", text) is None


def word_overlap(
    spoken: list[str], wanted: list[str], weights: dict[str, float], *, is_condition: bool = False
) -> float:
    """Returns the weighted share of common words: of both sides for a phrase, mostly the caller's for a condition."""
    common = set(spoken) & set(wanted)
    if not common - NEGATIONS:
        return 0.0
    if _is_negated(spoken, wanted):
        spoken = [word for word in spoken if word not in NEGATIONS]
        return NEGATED * word_overlap(spoken, wanted, weights, is_condition=is_condition)
    total = sum(weights.get(word, 1.0) for word in common)
    of_spoken = total / sum(weights.get(word, 1.0) for word in set(spoken))
    of_wanted = total / sum(weights.get(word, 1.0) for word in set(wanted))
    if is_condition:
        return of_spoken * 0.75 + min(of_wanted * 2, 1.0) * 0.25
    return 2 * of_spoken * of_wanted / (of_spoken + of_wanted)


def _is_negated(spoken: list[str], wanted: list[str]) -> bool:
    """Returns True when the caller says "not" and the phrase does not: "not so good" is not "very good"."""
    return bool(NEGATIONS & set(spoken)) and not NEGATIONS & set(wanted)


def phrase_fit(text: str, phrases: Sequence[str]) -> float:
    """Returns how well words match the best of some phrases, 0..1."""
    if not essential_tokens(text):
        return 0.0
    spoken = content_stems(text)
    return max((phrase_score(text, spoken, phrase, {}) for phrase in phrases), default=0.0)


def count_shared_words(text: str, other: str) -> int:
    """Counts the meaningful words that two texts share."""
    return len({stem_word(word) for word in content_stems(text)} & {stem_word(word) for word in content_stems(other)})


@lru_cache(maxsize=512)
def negated_stems(text: str) -> frozenset[str]:
    """Returns what a "not" can be of: "an emergency" is none of them in "I cannot stop it, it's an emergency"."""
    return frozenset().union(*(_reached(content_stems(clause)) for clause in _CLAUSES.split(text)))


def _negated_stems(wanted: list[str]) -> set[str]:
    return {word for at, word in enumerate(wanted[1:]) if wanted[at] in NEGATIONS and word not in NEGATIONS}


def _reached(stems: list[str]) -> set[str]:
    return {word for at, stem in enumerate(stems) if stem in NEGATIONS for word in stems[at + 1 : at + 1 + MAX_REACH]}
