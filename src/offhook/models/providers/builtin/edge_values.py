"""Matches the days, times and numbers that a caller names to the edges that ask for them. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.numbers.limits import keeps_limit, read_limits
from offhook.models.providers.builtin.english.numbers.ratings import has_full_marks, rating_in
from offhook.models.providers.builtin.english.words import (
    content_stems,
    essential_tokens,
    word_tokens,
)

_VALUE_SCORE: Final = 0.6
# So many numbers are a scale.
MIN_SCALE: Final = 3
# In so few words, a single number is an hour.
MAX_LONE_WORDS: Final = 4
# So many examples with a value show that it is asked for.
MIN_EXAMPLES: Final = 2


_WEEKDAY_RANGE: Final = re.compile(r"\b(week ?days?|monday (to|through|till|until|and) friday)\b", re.IGNORECASE)
_WEEKEND: Final = re.compile(r"\b(weekends?|saturdays?|sundays?)\b", re.IGNORECASE)
_RELATIVE_DAY: Final = re.compile(r"\b(?:today|tonight|tomorrow)\b", re.IGNORECASE)
_WEEK: Final = tuple(day.capitalize() for day in spoken_values.WEEKDAYS)
FIRST_OF_WEEKEND: Final = 5
_DAY: Final = re.compile(r"\b(days?|dates?|weekdays?|mon|tues|wednes|thurs|fri)(day)?\b", re.IGNORECASE)
_TIME: Final = re.compile(r"\b(times?|o'?clock|slot|morning|afternoon|evening)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"\b((?<!wrong )number|digits?|code|amount|rating|rate|score|how many|age)\b", re.IGNORECASE
)


_BOOKING: Final = re.compile(
    r"\b(book|schedule|reserve|make)\b.*\b(appointment|visit|meeting|table|slot|call)\b", re.IGNORECASE
)
_EXISTING: Final = re.compile(r"\b(already|existing|cancel|move|change|reschedule)\b", re.IGNORECASE)
_COMING: Final = re.compile(
    r"\b(like|want|need|book|come|coming|appointment|free|available|any|have|can|could|next|see|in)\b", re.IGNORECASE
)
_OTHER_VALUE: Final = re.compile(r"\b(another|different|other|none|not|no)\b", re.IGNORECASE)
_REMARK: Final = re.compile(r"\b(weather|rain\w*|sunny|lovely|nice|hot|cold|birthday)\b", re.IGNORECASE)
_CANCELS: Final = re.compile(
    r"\bnot (?:\w+ ){0,2}(?:keep|keeping|make it|coming|come|attend|attending|get there|be there|turn up)\b"
)
_ASKS_AMOUNT: Final = re.compile(
    r"\b(?:how (?:many|old|long|far|much|big|tall|heavy|large)|what(?:'s| is| was) (?:the|your|their) (?:age|size|weight)|age|weigh|when (?:was|did))\b",
    re.IGNORECASE,
)
# A caller who names a day or a time wants to book, if nothing else fits.
_BOOKING_SCORE: Final = 0.5


def value_score(text: str, edge: EdgeHint, edges: Sequence[EdgeHint]) -> float:
    """Scores a day, time or number that the edge asks for without naming this one."""
    described = f"{edge.label}. {edge.condition}"
    if any(_OTHER_VALUE.search(word) for word in (edge.label, edge.condition)):
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
        and (_COMING.search(text) or len(set(content_stems(text))) < 4)
        and not _REMARK.search(text)
        and not _CANCELS.search(" ".join(word_tokens(text)))
    ):
        return _BOOKING_SCORE
    if _NUMBER.search(described) and spoken_values.all_numbers(text) and not _others_name_numbers(edge, edges):
        return _VALUE_SCORE
    return 0.0


def _others_name_numbers(edge: EdgeHint, edges: Sequence[EdgeHint]) -> bool:
    """Returns True when labels are numbers: on a scale, a number without its own edge is no answer."""
    return any(spoken_values.first_number(other.label) is not None for other in edges if other is not edge) or (
        spoken_values.first_number(edge.label) is not None
    )


def edge_within_limit(text: str, edges: Sequence[EdgeHint], question: str = "") -> EdgeHint | None:
    """Returns the one edge whose limit an amount in a text keeps: "I'm forty" for "at least eighteen".

    If only one of two edges names a limit, the other one takes amounts that break it, provided ``question`` asks for one.
    """
    if spoken_values.time_of_day(text, may_be_lone=False):
        return None
    kept = {edge.tool: keeps_limit(text, edge.condition or edge.label) for edge in edges}
    within = [edge for edge in edges if kept[edge.tool]]
    if len(within) == 1 and False in kept.values():
        return within[0]
    limited = [edge for edge in edges if read_limits(edge.condition or edge.label)]
    if len(edges) != 2 or len(limited) != 1 or not _ASKS_AMOUNT.search(question):
        return None
    other = next(edge for edge in edges if edge is not limited[0])
    answer = kept[limited[0].tool]
    return None if answer is None else limited[0] if answer else other


def names_weekdays(text: str) -> bool:
    """Returns True for "Monday to Friday", which is no day."""
    return _WEEKDAY_RANGE.search(text) is not None


def name_weekend(heard: str, weekday: str, known: str) -> str:
    """Returns what was heard with "tomorrow" as the day that it is, where the agent names weekdays and it is none."""
    if not names_weekdays(known) or (today := weekday.lower()) not in spoken_values.WEEKDAYS:
        return heard
    at = list(spoken_values.WEEKDAYS).index(today)
    days = {"today": at, "tonight": at, "tomorrow": (at + 1) % 7}
    return _RELATIVE_DAY.sub(
        lambda match: (
            _WEEK[days[match.group().lower()]] if days[match.group().lower()] >= FIRST_OF_WEEKEND else match.group()
        ),
        heard,
    )


@lru_cache(maxsize=2048)
def asked_value_kinds(edge: EdgeHint) -> frozenset[str]:
    """Returns the kinds of value (``day``, ``time``) that take an edge: those of its examples, where there are any."""
    described = f"{edge.label}. {edge.condition}"
    if not edge.examples:
        return frozenset(kind for kind, pattern in (("day", _DAY), ("time", _TIME)) if pattern.search(described))
    days = sum(spoken_values.day_phrase(example) is not None for example in edge.examples)
    times = sum(map(_names_time, edge.examples))
    return frozenset(kind for kind, named in (("day", days), ("time", times)) if _is_asked(named, len(edge.examples)))


def _is_asked(named: int, examples: int) -> bool:
    # "it crawls in the evening" alone makes no time an answer
    return named >= MIN_EXAMPLES or (named > 0 and named * 2 >= examples)


def _names_time(example: str) -> bool:
    # "the gate code is four four one two" names none
    return spoken_values.time_of_day(example, may_be_lone=len(word_tokens(example)) <= MAX_LONE_WORDS) is not None


def changed_kinds(edge: EdgeHint) -> frozenset[str]:
    """Returns the kinds of value that an edge to something else is about: "another day"."""
    described = f"{edge.label}. {edge.condition}"
    kinds = (("day", _DAY), ("time", _TIME))
    return frozenset(kind for kind, pattern in kinds if pattern.search(described))


def scale_of_edges(edges: Sequence[EdgeHint]) -> dict[float, EdgeHint]:
    """Returns the edges that a number takes, each its own, by that number."""
    return {number: edge for edge in edges if (number := spoken_values.first_number(edge.label)) is not None}


def is_scale(edges: Sequence[EdgeHint]) -> bool:
    """Returns True where a number is asked for and each has its edge."""
    return len(scale_of_edges(edges)) >= MIN_SCALE


def is_rated(text: str, edges: Sequence[EdgeHint]) -> bool:
    """Returns True for one number of a scale of edges: "it wasn't a five, it was a four"."""
    return is_scale(edges) and rating_in(text, set(scale_of_edges(edges))) is not None


def is_off_scale(text: str, edges: Sequence[EdgeHint]) -> bool:
    """Returns True for a number where the edges are a scale that it is not on: "seven" of one to five."""
    scale = {
        number
        for edge in edges
        for phrase in (edge.label, *edge.examples)
        for number in spoken_values.all_numbers(phrase)
    }
    if sum(spoken_values.first_number(edge.label) is not None for edge in edges) < 2:
        return False
    if has_full_marks(text):
        return False
    said = set(map(float, spoken_values.all_numbers(text)))
    return bool(said) and (not said & scale or re.search(r"\bminus\b", text, re.IGNORECASE) is not None)
