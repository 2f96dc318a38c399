"""The number with which a caller rates something, among others in the sentence. Pure."""

import re
from collections.abc import Collection
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.english.words import word_tokens

# What would have been, was once, or others say: "I'd give it a five if …", "it's a four-star hotel on the website".
_NO_RATING: Final = re.compile(
    r"\b(?:if (?!i (?:had|have) to|you ask|you want)|unless|used to|last (?:time|year)|(?:was|were|is) supposed|should have been|could have been|"
    r"would have (?:been|said|given)|almost|nearly|(?:web ?site|online|brochure|says|advertised|calls? itself)|questions?|"
    r"(?:is|means|be) (?:the |a )?(?:best|worst|highest|lowest|top|bottom|good|bad))\b",
    re.IGNORECASE,
)
# "I didn't say two, I said five", "not exactly a five".
_DENIED: Final = re.compile(
    r"\bnot (?:(?:say|said|mean|exactly|quite|really|even|an?) ){0,3}(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_OUT_OF: Final = re.compile(r"\b(?:out of|of) (?:a possible )?(?:\d+|five|ten|a hundred)\b", re.IGNORECASE)
_GIVES: Final = re.compile(r"\b(?:give (?:it|you|that|this|them)|i would say|rate it|call it|make it)\b", re.IGNORECASE)
_CLAUSES: Final = re.compile(
    r"[;.!?]+(?!\d)|,\s*(?:so|but|and|then|now)?\b|\b(?:but|because|since|so)\b", re.IGNORECASE
)


def rating_in(text: str, scale: Collection[float]) -> float | None:
    """Returns the one number of a scale that a caller rates with; None when there is none or more than one.

    A number of things ("five of us") and one that would have been ("a five if it weren't for the noise") rate nothing.
    """
    said = parse_utterance(text)
    standing = said.standing if said.is_correction or said.refused else said.heard
    standing = (
        _DENIED.sub(" ", " ".join(word_tokens(standing)))
        if _DENIED.search(" ".join(word_tokens(standing)))
        else standing
    )
    given = _GIVES.split(" ".join(word_tokens(standing)))
    if len(given) > 1 and spoken_values.all_numbers(given[-1]):
        # "I was in room two oh four and I'd give it a five"
        standing = given[-1]
    clauses = [clause for clause in _CLAUSES.split(standing) if clause.strip()]
    found = {
        number
        for clause in clauses
        if not _NO_RATING.search(clause)
        for number in spoken_values.all_numbers(_OUT_OF.sub("", clause))
        if number in scale
    }
    return found.pop() if len(found) == 1 else None


def drop_numbers(text: str) -> str:
    """Returns a text without the words of its numbers."""
    return " ".join(word for word in text.split() if not spoken_values.all_numbers(word))
