"""Reads dates, written in any usual order or spoken in English, with their places. Pure."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Final

from offhook.kit.redaction.spoken_digits import TEENS, TENS, UNITS, read_digit_runs

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
_ENDINGS: Final = frozenset({"st", "nd", "rd", "th"})
_BETWEEN: Final = frozenset({"/", "-", "\u2013", ".", ",", "slash", "dash", "stroke", "dot", "point"})
_SMALL_WORDS: Final = frozenset({"of", "the", "in", "year", "um", "uh", "then", "\u2019", "'"})
_ZEROS: Final = frozenset({"oh", "o", "zero"})
_STARTS: Final = _MONTHS.keys() | _ORDINALS.keys() | UNITS.keys() | TEENS.keys() | TENS.keys() | {"double", "triple"}
_YEARS: Final = range(1880, 2040)
_TOKEN: Final = re.compile(r"[0-9]+|[^\W\d_]+|\S")
_LAST_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# A value and the number of the token after it.
_Read = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A date from ``start`` up to but not including ``end``.

    ``readings`` are the months and days it may mean (4/7 is two); empty for a year alone; the day is 0 for a month of a year.
    ``year`` is modulo 100. ``is_loose``: a group of digits or a year, which is a date only where one is expected.
    """

    start: int
    end: int
    year: int | None
    readings: frozenset[tuple[int, int]]
    is_loose: bool = False


def read_dates(text: str) -> list[CalendarDate]:
    """Returns the dates of a text in order, the longest where several are possible."""
    reader = _Reader(text)
    found: list[CalendarDate] = []
    index = 0
    groups = list(_read_groups(text))
    while index < len(reader.tokens):
        start, word = reader.tokens[index].start(), reader.tokens[index][0].lower()
        if not (word in _STARTS or "0" <= word[0] <= "9"):
            index += 1
            continue
        candidates = [date for read in reader.forms if (date := read(index)) is not None]
        candidates += [date for date in groups if date.start == start]
        if not candidates:
            index += 1
            continue
        best = max(candidates, key=lambda date: (date.end, not date.is_loose))
        found.append(best)
        while index < len(reader.tokens) and reader.tokens[index].start() < best.end:
            index += 1
    return found


def read_short_year(text: str, start: int) -> tuple[int, int] | None:
    """Returns the place of a year that stands at ``start``, also one of two digits."""
    reader = _Reader(text[start:])
    year = reader.read_year_after(0)
    return None if year is None else (start, start + reader.tokens[year[1] - 1].end())


class _Reader:
    """Reads numbers and dates at the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_TOKEN.finditer(text))
        self._words = [token[0].lower() for token in self.tokens]
        self.forms: tuple[Callable[[int], CalendarDate | None], ...] = (
            self._read_day_first,
            self._read_month_first,
            self._read_numbers,
            self._read_year_first,
            self._read_year_alone,
        )

    def _word(self, index: int) -> str:
        return self._words[index] if index < len(self._words) else ""

    def _skip(self, index: int, words: Iterable[str]) -> int:
        while self._word(index) and self._word(index) in words:
            index += 1
        return index

    def _build(
        self, begin: int, end: int, year: int | None, pairs: Iterable[tuple[int, int]], *, is_loose: bool = False
    ) -> CalendarDate:
        start, stop = self.tokens[begin].start(), self.tokens[end - 1].end()
        return CalendarDate(start, stop, None if year is None else year % 100, frozenset(pairs), is_loose)

    def _read_day_first(self, index: int) -> CalendarDate | None:
        day = self._read_day(index)
        if day is None:
            return None
        at = self._skip(day[1], {"of", "-", ",", "/", ".", "in", "day"})
        month = _MONTHS.get(self._word(at))
        if month is None or day[0] > _LAST_DAYS[month - 1]:
            return None
        year = self.read_year_after(at + 1)
        return self._build(index, year[1] if year else at + 1, year[0] if year else None, [(month, day[0])])

    def _read_month_first(self, index: int) -> CalendarDate | None:
        month = _MONTHS.get(self._word(index))
        if month is None:
            return None
        at = self._skip(index + 1, {".", "the", "-", ",", "/"})
        day = self._read_day(at)
        whole = self._read_whole_year(self._skip(at, {"of", "in"}))
        day = day if day is not None and day[0] <= _LAST_DAYS[month - 1] else None
        year = self.read_year_after(day[1]) if day else None
        end = year[1] if year else day[1] if day else 0
        # "March 1985"; "March nineteen nineteen thirty-two" is longer as a day and a year
        if whole is not None and whole[1] > end:
            return self._build(index, whole[1], whole[0], [(month, 0)])
        return self._build(index, end, year[0] if year else None, [(month, day[0])]) if day else None

    def _read_numbers(self, index: int) -> CalendarDate | None:
        first = self._read_small(index)
        second = self._read_small(self._skip(first[1], _BETWEEN | {"the"})) if first else None
        if first is None or second is None:
            return None
        year = self.read_year_after(second[1])
        pairs = list(_read_pairs(first[0], second[0]))
        if year is None or not pairs:
            return None
        # "four one five two", of which more follows, is a longer number
        return self._build(index, year[1], year[0], pairs, is_loose=self._read_small(year[1]) is not None)

    def _read_year_first(self, index: int) -> CalendarDate | None:
        year = self._read_whole_year(index)
        month = self._read_small(self._skip(year[1], _BETWEEN)) if year else None
        day = self._read_small(self._skip(month[1], _BETWEEN)) if month else None
        if year is None or month is None or day is None or not _is_day(month[0], day[0]):
            return None
        return self._build(index, day[1], year[0], [(month[0], day[0])])

    def _read_year_alone(self, index: int) -> CalendarDate | None:
        year = self._read_whole_year(index)
        return None if year is None else self._build(index, year[1], year[0], [], is_loose=True)

    def _read_day(self, index: int) -> _Read:
        word = self._word(index)
        if word in _ORDINALS:
            return _ORDINALS[word], index + 1
        if word in {"twenty", "thirty"}:
            after = index + 1 + (self._word(index + 1) == "-")
            unit = _ORDINALS.get(self._word(after), 99)
            if unit < 10:
                return int(TENS[word]) * 10 + unit, after + 1
        small = self._read_small(index)
        if small is None or not 1 <= small[0] <= 31:
            return None
        has_ending = word.isdigit() and self._word(small[1]) in _ENDINGS
        return small[0], small[1] + has_ending

    def _read_small(self, index: int) -> _Read:
        """A number below 100: "7", "07", "oh seven", "twenty-one"."""
        word = self._word(index)
        if word.isascii() and word.isdigit():
            return (int(word), index + 1) if len(word) <= 2 else None
        if word in _ZEROS:
            unit = UNITS.get(self._word(index + 1), "0")
            return (int(unit), index + 2) if unit != "0" else None
        if word in UNITS:
            return int(UNITS[word]), index + 1
        if word in TEENS:
            return int(TEENS[word]), index + 1
        if word not in TENS:
            return None
        after = index + 1 + (self._word(index + 1) == "-")
        unit = "0" if self._word(after + 1) == "thousand" else UNITS.get(self._word(after), "0")
        return (int(TENS[word] + unit), after + 1) if unit != "0" else (int(TENS[word]) * 10, index + 1)

    def read_year_after(self, index: int) -> _Read:
        at = self._skip(index, _BETWEEN | _SMALL_WORDS)
        whole = self._read_whole_year(at)
        if whole is not None:
            return whole
        word, small = self._word(at), self._read_small(at)
        # "eighty-five", "'85", "oh five"; a single digit is no year
        if small is not None and (small[0] > 9 or word in _ZEROS or (word.isdigit() and len(word) == 2)):
            return small
        return self._read_single_digits(at, 2)

    def _read_whole_year(self, index: int) -> _Read:
        """A year of four digits: "1985", "nineteen eighty-five", "two thousand and three", "one nine eight five"."""
        word = self._word(index)
        if word.isascii() and word.isdigit() and len(word) == 4:
            return (int(word), index + 1) if int(word) in _YEARS else None
        if word in {"two", "2"} and self._word(index + 1) == "thousand":
            rest = self._read_small(self._skip(index + 2, {"and"}))
            return (2000 + rest[0], rest[1]) if rest and rest[0] < 40 else (2000, index + 2)
        century = {"eighteen": 1800, "nineteen": 1900, "twenty": 2000}.get(word)
        if century is not None:
            return self._read_rest_of_century(index + 1, century)
        digits = self._read_single_digits(index, 4)
        return digits if digits is not None and digits[0] in _YEARS else None

    def _read_rest_of_century(self, index: int, century: int) -> _Read:
        at = index + (self._word(index) == "-")
        if self._word(at) == "hundred":
            rest = self._read_small(self._skip(at + 1, {"and"}))
            return (century + rest[0], rest[1]) if rest else (century, at + 1)
        rest = self._read_small(at)
        if rest is None or self._word(at).isdigit() or (rest[0] < 10 and self._word(at) not in _ZEROS):
            return None
        return (century + rest[0], rest[1]) if century + rest[0] in _YEARS else None

    def _read_single_digits(self, index: int, count: int) -> _Read:
        words = [self._word(at) for at in range(index, index + count)]
        digits = [UNITS.get(word, word if word.isascii() and word.isdigit() else "") for word in words]
        return (int("".join(digits)), index + count) if all(len(digit) == 1 for digit in digits) else None


def _read_groups(text: str) -> Iterable[CalendarDate]:
    """Yields groups of six to eight digits that can be split into a date: "07041985", "0 7 0 4 8 5"."""
    for run in read_digit_runs(text):
        digits = "".join(digit.char for digit in run)
        if not 6 <= len(digits) <= 8:
            continue
        years: set[int] = set()
        pairs: set[tuple[int, int]] = set()
        for one, two in product((1, 2), (1, 2)):
            for parts in (
                (digits[:one], digits[one : one + two], digits[one + two :]),
                (digits[-two:], digits[-two - one : -two], digits[: -two - one]),
            ):
                year = int(parts[2])
                is_year = year in _YEARS if len(parts[2]) == 4 else len(parts[2]) == 2
                for pair in _read_pairs(int(parts[0]), int(parts[1])) if is_year else ():
                    years.add(year)
                    pairs.add(pair)
        if pairs:
            yield CalendarDate(run[0].start, run[-1].end, min(years) % 100, frozenset(pairs), True)


def _read_pairs(one: int, two: int) -> Iterable[tuple[int, int]]:
    return (pair for pair in {(one, two), (two, one)} if _is_day(*pair))


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _LAST_DAYS[month - 1]
