"""Amounts that callers name, and the limits in an author's conditions that they keep or break. Pure.

"We've had it like five months" keeps "less than 2 years old", "three weeks back" breaks "8 weeks or more".
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.words import keep_short, word_tokens

_DAYS: Final = {
    "minute": 1 / 1440, "min": 1 / 1440, "hour": 1 / 24, "hr": 1 / 24, "day": 1, "night": 1, "week": 7, "month": 30.4,
    "year": 365.25, "yr": 365.25,
}  # fmt: skip
_DURATION: Final = "duration"
# Units without their own table are compared only with the same unit, or with a bare number.
_KINDS: Final = {
    "mile": "way", "pound": "weight", "lb": "weight", "dollar": "money", "buck": "money", "of": "heads", "people": "heads",
    "person": "heads", "guest": "heads", "adult": "heads", "player": "heads", "percent": "share", "am": "clock", "pm": "clock",
    "oclock": "clock",
}  # fmt: skip
_UNITLESS: Final = ""
_PARTS: Final = {"half": 0.5, "couple": 2.0, "few": 3.0, "dozen": 12.0}
_SCALES: Final = frozenset({"hundred", "thousand"})
_ARTICLES: Final = frozenset({"a", "an"})
_BETWEEN: Final = frozenset({"more", "full", "whole", "good", "of", "other", "straight"})
_FROM: Final = re.compile(
    r"\b(?:at least|minimum(?: of)?|(?:no|not) (?:younger|less|fewer|shorter|smaller|lighter) than) $"
)
_ABOVE: Final = re.compile(
    r"\b(?:over|above|beyond|past|(?:more|older|longer|bigger|larger|greater|heavier|higher|further|farther) than) $"
)
_UP_TO: Final = re.compile(
    r"\b(?:at most|up to|maximum(?: of)?|within|(?:no|not) (?:more|older|longer|bigger|larger|heavier|further) than) $"
)
_BELOW: Final = re.compile(
    r"\b(?:under|below|not quite|(?:less|fewer|younger|newer|shorter|smaller|lighter|closer|nearer) than) $"
)
_OR_MORE: Final = re.compile(
    r"^ (?:old )?(?:or|and) (?:more|older|longer|over|above|up|upwards?|bigger|larger|heavier|higher|further)\b"
)
_OR_LESS: Final = re.compile(
    r"^ (?:old )?(?:or|and) (?:less|fewer|younger|newer|under|below|down|shorter|smaller|lighter|closer|nearer)\b"
)
_TO: Final = frozenset({"to", "through"})
_SIGNS: Final = tuple(
    (re.compile(sign), words)
    for sign, words in (
        (r"\b\d+(?:st|nd|rd|th)\b", " "), (r"(?<=\d)\s?\+", " or more"), (r"<=\s?(?=\d)", "at most "), (r">=\s?(?=\d)", "at least "), (r"<\s?(?=\d)", "under "),
        (r">\s?(?=\d)", "over "), (r"(?<=\d)\s?[-\u2013]\s?(?=\d)", " to "), (r"(?<=\d)(?=(?:yrs?|hrs?|mins?|lbs?)\b)", " "),
    )
)  # fmt: skip
# "I'll be eighteen in March", "not eighteen yet", "when I was forty"
_NOT_NOW: Final = re.compile(
    r"\b(?:will|going to|turning?|until|till|about to|almost|nearly|not(?! quite\b)|never|since|before|when)\b(?! just\b)"
)
_WAS: Final = re.compile(r"\b(?:was|were)\b")
_AGO: Final = re.compile(r"\b(?:ago|back)\b")
# "fifteen years if it's a day"
_IDIOM: Final = re.compile(r"\bif (?:it|he|she) is a (?:day|minute)\b")
_CLAUSES: Final = re.compile(r"[,.;!?](?!\d)")
# No words that make a limit are more, before it or behind it.
_MAX_LIMIT_WORDS: Final = 4
# Who names more amounts at once says nothing of a single limit.
MAX_AMOUNTS: Final = 16


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount between two bounds; durations are in days. ``size`` is the size of one unit."""

    low: float
    high: float
    kind: str
    size: float = 1.0
    has_low: bool = True
    has_high: bool = True

    def is_within(self, other: "_Amount") -> bool | None:
        """Returns whether this amount lies within another one; None if only a part of it does."""
        starts = self.low > other.low or (self.low == other.low and (other.has_low or not self.has_low))
        ends = self.high < other.high or (self.high == other.high and (other.has_high or not self.has_high))
        if starts and ends:
            return True
        is_below = self.high < other.low or (self.high == other.low and not (self.has_high and other.has_low))
        is_above = self.low > other.high or (self.low == other.high and not (self.has_low and other.has_high))
        return False if is_below or is_above else None

    def in_unit(self, limit: "_Amount") -> "_Amount":
        """Returns a number without a unit in the limit's unit: "nine" in years."""
        return _Amount(
            self.low * limit.size, self.high * limit.size, limit.kind, limit.size, self.has_low, self.has_high
        )


def keeps_limit(said: str, condition: str) -> bool | None:
    """Returns whether what a caller says keeps the limits of a condition.

    Returns None if there is no limit or no amount of its kind, or if the caller speaks of the future or the past: "I'll be
    eighteen in May", "when I was forty".
    """
    limits = read_limits(condition)
    kept = [_keeps(said, limit) for limit in limits]
    if not kept or None in kept:
        return False if False in kept else None
    return all(kept)


def _keeps(said: str, limit: _Amount) -> bool | None:
    amounts = _amounts_said(said)
    if len(amounts) > MAX_AMOUNTS:
        return None
    of_kind = [amount for amount in amounts if amount.kind == limit.kind]
    if not of_kind and len({amount.kind for amount in amounts}) == 1 and _UNITLESS in (amounts[0].kind, limit.kind):
        # "there are four of us" for "up to 6", but "four o'clock" does not count anything
        of_kind = [amount.in_unit(limit) for amount in amounts if amount.kind not in (_DURATION, "clock")]
    elif limit.kind == _UNITLESS and len(amounts) > len(of_kind):
        return None
    within = {amount.is_within(limit) for amount in of_kind}
    return within.pop() if len(within) == 1 else None


# For each limit of each edge of a step.
@lru_cache(maxsize=64)
def _amounts_said(said: str) -> tuple[_Amount, ...]:
    """Returns the amounts that are true now."""
    found: list[_Amount] = []
    for part in _CLAUSES.split(_written_out(said)):
        clause = _IDIOM.sub(" ", " ".join(word_tokens(part)))
        amounts = [amount for _, amount in _read_amounts(clause)]
        if amounts and (_NOT_NOW.search(clause) or (_WAS.search(clause) and not _AGO.search(clause))):
            return ()
        found += amounts
    return tuple(found)


@keep_short
def read_limits(condition: str) -> tuple[_Amount, ...]:
    """Returns the limits that a condition names: "at least eighteen years old", "5 or more", "2 to 6 people"."""
    words = " ".join(word_tokens(_written_out(condition)))
    return tuple(amount for is_limit, amount in _read_amounts(words) if is_limit)


def _written_out(text: str) -> str:
    for sign, words in _SIGNS:
        text = sign.sub(words, text)
    return text


def _read_amounts(text: str) -> Iterator[tuple[bool, _Amount]]:
    """Yields the amounts in a text, and whether each one is worded as a limit."""
    words = text.split()
    at = 0
    while at < len(words):
        number, end = _number_at(words, at)
        if number is None:
            at = end
            continue
        high, end_of_range = _number_at(words, end + 1) if words[end : end + 1] and words[end] in _TO else (None, end)
        if high is not None and high > number:
            end = end_of_range
        else:
            high = None
        kind, size, end = _unit_at(words, end)
        if kind == _DURATION and words[end : end + 3] == ["and", "a", "half"]:
            number, end = number + 0.5, end + 3
        is_few = "few" in words[at : at + 2] and kind != _DURATION
        is_article = words[at] in _ARTICLES and not _SCALES & {*words[at + 1 : at + 2]}
        if is_few or (is_article and kind not in (_DURATION, "way", "weight")):
            at += 1
            continue
        before = " ".join((*words[max(0, at - _MAX_LIMIT_WORDS) : at], ""))
        after = " ".join(("", *words[end : end + _MAX_LIMIT_WORDS]))
        yield _bounded(number * size, None if high is None else high * size, kind, size, before, after)
        at = end


def _bounded(
    number: float, high: float | None, kind: str, size: float, before: str, after: str
) -> tuple[bool, _Amount]:
    if high is not None:
        return True, _Amount(number, high, kind, size)
    is_least = bool(_FROM.search(before) or _OR_MORE.match(after))
    is_most = bool(_UP_TO.search(before) or _OR_LESS.match(after))
    if is_least or (not is_most and _ABOVE.search(before)):
        return True, _Amount(number, math.inf, kind, size, has_low=is_least)
    if is_most or _BELOW.search(before):
        return True, _Amount(-math.inf, number, kind, size, has_high=is_most)
    return False, _Amount(number, number, kind, size)


def _number_at(words: list[str], at: int) -> tuple[float | None, int]:
    """Returns the number that starts at a word, and the position after it: "two and a half", "a couple of", "a" (of "a year")."""
    if at >= len(words):
        return None, at
    if words[at] in _PARTS:
        return _PARTS[words[at]], at + 1 + (words[at + 1 : at + 2] in (["a"], ["an"], ["of"]))
    if words[at] in _ARTICLES:
        if words[at + 1 : at + 2] and words[at + 1] in _PARTS:
            return _PARTS[words[at + 1]], at + 2 + (words[at + 2 : at + 3] == ["of"])
        if not _SCALES & {*words[at + 1 : at + 2]}:
            return 1.0, at + 1
        number, end = _number_at(["one", *words[at + 1 :]], 0)
        return number, at + end
    end = at
    while end < len(words) and (_is_of_number(words[end]) or (words[end] == "and" and words[end - 1] in _SCALES)):
        end += 1
    number = spoken_values.first_number(" ".join(words[at:end])) if _is_one_number(words[at:end]) else None
    if number is not None and words[end : end + 3] == ["and", "a", "half"]:
        return number + 0.5, end + 3
    return number, max(end, at + 1)


def _is_of_number(word: str) -> bool:
    return word in _SCALES or spoken_values.first_number(word) is not None


def _is_one_number(words: list[str]) -> bool:
    """Returns False for the digits of a telephone number, "five five five"."""
    if len(words) < 2 or _SCALES & set(words):
        return bool(words)
    return len(words) < 4 and any(word.endswith("ty") for word in words)


def _unit_at(words: list[str], at: int) -> tuple[str, float, int]:
    """Returns the kind of the unit at a word, its size, and the position after it."""
    while at < len(words) and words[at] in _BETWEEN and words[at : at + 2] not in (["of", "us"], ["of", "them"]):
        at += 1
    if at >= len(words):
        return _UNITLESS, 1.0, at
    unit = words[at] if words[at] in _KINDS or words[at] in _DAYS else words[at].removesuffix("s")
    if unit in _DAYS:
        return _DURATION, _DAYS[unit], at + 1
    return (_KINDS[unit], 1.0, at + 1) if unit in _KINDS else (_UNITLESS, 1.0, at)
