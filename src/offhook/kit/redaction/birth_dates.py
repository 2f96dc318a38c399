"""Finds dates of birth in one conversation: a date is one where birth is spoken of, was asked for, or was given before. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.kit.redaction.calendar_dates import CalendarDate, read_dates, read_short_year

_BIRTH: Final = re.compile(
    r"\b(?:(?:date|day|year|place and date)s? of (?:my |your |his |her |their )?birth|birth[ -]?(?:dates?|years?)|"
    r"birth[ -]?days?(?! (?:party|dinner|lunch|brunch|cake|gift|present|card|celebration|surprise|event|bash|table|song|wish|"
    r"vouchers?|discounts?|coupons?|offers?|deals?|packages?|treat|tea|trip|tickets?|flowers|greetings?|message|weekend|menu|club|bonus))|"
    r"b-?day|d\.? ?o\.? ?b\b\.?|born(?! (?:in mind|out of)))\b",
    re.IGNORECASE,
)
# What another date is of: after one of these a date is no longer the birth's.
_OTHER: Final = re.compile(
    r"\b(?:appointments?|book(?:ed|ing|ings)?|(?:re)?schedul\w+|reserv\w+|visit\w*|meet(?:ing|ings)?|come in|came in|see you|"
    r"available|availability|slots?|openings?|due|expir\w+|valid|deliver\w*|ship(?:ped|ping|ment)|arriv\w+|depart\w*|"
    r"check(?:ing|ed)?[ -]?(?:in|out)|flights?|invoice[ds]?|bill(?:ed|ing)?|order(?:ed|s)?|pay(?:ment|ments|ing)?|paid|starts?|"
    r"started|starting|begins?|deadline|today|tomorrow|tonight|(?:next|this|last) (?:week|month|visit|time)|surgery|procedure|"
    r"(?:what|which) (?:day|date|time)|when (?:would|can|could|do|should|are)|works? for|mov(?:e|ed|ing)|since|hired|"
    r"graduat\w+|marri\w+|wedding|anniversary|died|passed away|admitted|discharged|signed|purchas\w+|bought|issued|accident|"
    r"incident|party|dinner|lunch|event|trip|stay(?:ing)?|until|from)\b",
    re.IGNORECASE,
)
# After these a group of digits is something else, though not a date that is written as one.
_NUMBERS: Final = re.compile(
    r"\b(?:numbers?|phone|cell|mobile|zip|postal|codes?|card|social|ssn|members?(?:hip)?|polic(?:y|ies)|account|address|street)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)")
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]?")
_CORRECTION: Final = re.compile(
    r"^\W*(?:(?:oh|um|uh|no|not|sorry|actually|wait|pardon|correction|make that|i mean|i meant|excuse me|my mistake|rather|it's|it is|that's|"
    r"is|was|the|my|on)\b\W*)*$",
    re.IGNORECASE,
)
_YEAR_CORRECTION: Final = re.compile(
    r"[\s,.-]*(?:(?:sorry|no|i mean|i meant|actually|rather|make that|wait)[\s,]+)+(?:that's |it's )?(?=\w)",
    re.IGNORECASE,
)
_IS_FOR: Final = re.compile(r"\bfor (?:the|my|this|that|an?|our|your|his|her) $", re.IGNORECASE)
_SAYS_SO_AFTER: Final = re.compile(
    r"^[\s,.;:-]*(?:and )?(?:that'?s|that is|that was|this is|is|was|would be|as|being|it's)?[\s,]*(?:when )?"
    r"(?:my|his|her|their|the|our|your|i|he|she|they|we|\w+'s)?\s*(?:was |were |is )?(?:actual |correct |right |real |own )?$",
    re.IGNORECASE,
)
_SAYS_SO_BEFORE: Final = re.compile(r"\s*(?:is|was|would|should|will|:|=)", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?:^|\s)(?:d ?o ?b|birth ?dates?|dates? of birth|birth ?days?|birth ?years?|years? of birth|born(?: on| in| at)?)$",
    re.IGNORECASE,
)
# How far before its date birth may be spoken of, and how far a year may stand that is alone.
_REACH: Final = 120
_YEAR_REACH: Final = 32
_AFTER_REACH: Final = 60
# An answer may come after a few other turns ("one moment"), a correction after the agent has repeated the date.
_ASKED_TURNS: Final = 4
_CORRECTED_TURNS: Final = 2


class BirthDateFinder:
    """Finds dates of birth in one conversation. :meth:`find` searches a text, :meth:`follow_turn` records a turn."""

    def __init__(self) -> None:
        self._asked = 0
        self._corrected = 0
        self._known: list[tuple[int | None, frozenset[tuple[int, int]]]] = []

    def find(self, text: str) -> list[tuple[int, int]]:
        """Returns the places of dates of birth in a turn or a value."""
        dates = self._find_dates(text)
        places = [(date.start, date.end) for date in dates]
        for date in dates:
            # "the third of May 62, sorry, 63"
            corrected = _YEAR_CORRECTION.match(text, date.end)
            year = read_short_year(text, corrected.end()) if corrected else None
            if year is not None and all(year[0] >= end or year[1] <= start for start, end in places):
                places.append(year)
        return sorted(places)

    def follow_turn(self, text: str) -> None:
        """Takes note of what a turn asked for and gave."""
        found = self._find_dates(text)
        for date in found:
            if date.readings and (known := (date.year, date.readings)) not in self._known:
                self._known.append(known)
        self._asked = _ASKED_TURNS if _asks_for_birth(text, found) else max(0, self._asked - 1)
        if found or (_OTHER.search(text) and not _BIRTH.search(text)):
            self._asked = 0
        self._corrected = _CORRECTED_TURNS if found else max(0, self._corrected - 1)

    def snapshot(self) -> JsonObject:
        """Returns what another process needs to go on."""
        known: list[JsonValue] = [[year, [list(pair) for pair in sorted(pairs)]] for year, pairs in self._known]
        return {"asked": self._asked, "corrected": self._corrected, "known": known}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the result of :meth:`snapshot`."""
        self._asked, self._corrected = state["asked"], state["corrected"]
        self._known = [(year, frozenset((one, two) for one, two in pairs)) for year, pairs in state["known"]]

    def _find_dates(self, text: str) -> list[CalendarDate]:
        has_birth = _BIRTH.search(text) is not None
        if not (has_birth or self._asked or self._corrected or self._known):
            return []
        dates = read_dates(text)
        if not dates:
            return []
        found = [date for date in dates if self._is_known(date)]
        found += [date for date in _find_said_after(text, dates) if date not in found]
        found += [date for date in self._find_claimed(text, dates) if date not in found]
        return sorted(found, key=lambda date: date.start)

    def _is_known(self, date: CalendarDate) -> bool:
        """An appointment may be on somebody's birthday: the year is part of what has to be the same."""
        for year, pairs in self._known:
            same = {pair for pair in date.readings if pair in pairs}
            if date.year is None and year is None and same:
                return True
            is_near = any(one == three or two == four for one, two in date.readings for three, four in pairs)
            if date.year is not None and date.year == year and (same or (is_near and not date.is_loose)):
                return True
        return False

    def _find_claimed(self, text: str, dates: Sequence[CalendarDate]) -> list[CalendarDate]:
        """Walks through a turn. ``at`` is where birth was spoken of last; None where the next date is another's."""
        at: int | None = 0 if self._asked else None
        is_claimed = False
        found: list[CalendarDate] = []
        before = 0
        if self._corrected and _CORRECTION.match(text[: dates[0].start]) and not dates[0].is_loose:
            at = 0
        for date in dates:
            gap = text[before : date.start]
            births = list(_BIRTH.finditer(text, before, date.start))
            if births:
                at, is_claimed = births[-1].end(), False
                gap = text[at : date.start]
            elif is_claimed and _SENTENCE_END.search(gap + " ") and not _is_correction(gap):
                at = None
            names_other = any(
                not _IS_FOR.search(gap[max(0, other.start() - 12) : other.start()]) for other in _OTHER.finditer(gap)
            )
            if at is not None and (names_other or (is_claimed and _NUMBERS.search(gap))):
                at = None
            if at is not None and _is_in_reach(text, at, date):
                found.append(date)
                is_claimed = True
            before = date.end
        return found


def is_birth_date_name(name: str) -> bool:
    """Returns whether a variable of this name (as words) holds a date of birth."""
    return _NAMED.search(name) is not None


def _find_said_after(text: str, dates: Sequence[CalendarDate]) -> list[CalendarDate]:
    """ "July 4th 1985 is my date of birth"."""
    found = []
    for date in dates:
        birth = _BIRTH.search(text, date.end, date.end + _AFTER_REACH)
        if birth is None or _SAYS_SO_BEFORE.match(text, birth.end()):
            continue
        if not date.is_loose and _SAYS_SO_AFTER.match(text[date.end : birth.start()]):
            found.append(date)
    return found


def _is_correction(gap: str) -> bool:
    last = _SENTENCE_END.split(gap)[-1]
    return _CORRECTION.match(gap) is not None or (bool(last.strip()) and _CORRECTION.match(last) is not None)


def _is_in_reach(text: str, at: int, date: CalendarDate) -> bool:
    gap = text[at : date.start]
    if date.is_loose and (_NUMBERS.search(gap) or (not date.readings and len(gap) > _YEAR_REACH)):
        return False
    return len(gap) <= _REACH


def _asks_for_birth(text: str, found: Sequence[CalendarDate]) -> bool:
    """The last question decides, or without questions the last sentence that speaks of birth or of another date."""
    last = max((date.end for date in found), default=0)
    sentences = [match[0] for match in _SENTENCE.finditer(text[last:])]
    telling = [part for part in sentences if _BIRTH.search(part) or _OTHER.search(part)]
    questions = [part for part in telling if part.endswith("?")]
    return bool(telling) and _BIRTH.search((questions or telling)[-1]) is not None
