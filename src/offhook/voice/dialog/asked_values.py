"""Finds what a step asks for and how much of it the caller has said, in the language of the call."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Protocol

import phonenumbers

from offhook.voice.dialog import expected_values
from offhook.voice.dialog.expected_values import (
    DATE_DIGITS,
    MAX_DIGITS,
    MIN_DIGITS,
    SHORT_DATE_DIGITS,
    YEAR,
    ValueProgress,
    card_length,
    whole_or_part,
)
from offhook.voice.dialog.phrases import DEFAULT_LANGUAGE, primary_language
from offhook.voice.dialog.spoken_numbers import (
    SPOKEN_NUMBER,
    Part,
    Piece,
    SpokenNumbers,
    fold,
    is_unspaced,
    last_number,
    numbers_of,
    words_of_values,
)

_QUESTION_ENDS: Final = ("?", "\uff1f", "\u061f", "\u304b\u3002", "\u304b")
NO_WORD_BEFORE: Final = r"(?<!\w)"
MAX_PROMPT_CHARS: Final = 20_000
# Where the country is not known, a number of fewer digits is no whole one.
_MIN_PHONE_DIGITS: Final = 9
# Behind them, the rest of a date follows.
_YEAR_MARKS: Final = frozenset(
    map(fold, ("de", "del", "du", "do", "da", "\u5e74", "\u0633\u0646\u0629", "\u0639\u0627\u0645"))
)


class ValueReader(Protocol):
    """Reads values as callers say them in one language. Called with every window of sound."""

    def asked_kinds(self, sentence: str) -> tuple[str, ...]:
        """Returns what the agent's sentence asks for."""

    def measure(self, text: str, kinds: tuple[str, ...]) -> ValueProgress:
        """Returns how much of a value of one of these kinds the caller has said."""

    def is_yes_no(self, sentence: str, kinds: Sequence[str]) -> bool:
        """Returns whether "yes" or "no" is all that a sentence asks for, at a step that asks for these kinds."""

    def ends_in_number(self, text: str) -> bool:
        """Returns whether a text ends within a number that is said digit by digit, or within a name that is spelled."""


def is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith(_QUESTION_ENDS)


@lru_cache(maxsize=256)
def asked_kinds(text: str, languages: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Returns what a question or the prompt of a step asks for, in English or one of these languages (tags).

    The agent's last sentence is compared several times a second, and prompts are the same in every call.
    """
    kinds = list(expected_values.asked_kinds(text))
    codes = [code for code in map(primary_language, languages) if code in words_of_values()]
    folded = fold(text[:MAX_PROMPT_CHARS]) if codes else ""
    for code in codes:
        kinds += _asking_words(code).find_kinds(folded)
    return tuple(dict.fromkeys(kinds))


@dataclass(frozen=True, slots=True)
class _AskingWords:
    kinds: dict[str, re.Pattern[str]]
    units: tuple[str, ...]
    length: re.Pattern[str]
    lengths: dict[str, int]
    last: re.Pattern[str]

    def find_kinds(self, folded: str) -> list[str]:
        found = [kind for kind, pattern in self.kinds.items() if pattern.search(folded)]
        counted = self.length.findall(folded) if any(unit in folded for unit in self.units) else []
        lengths = [self.lengths.get(length, length) for length in counted]
        if lengths and self.last.search(folded):
            found = [kind for kind in found if kind == "birth_date"]
        return found + [f"digits_{length}" for length in lengths if 1 < int(length) < 100]


@cache
def _asking_words(language: str) -> _AskingWords:
    words = words_of_values()[language]
    spelled = [(form, value) for value in range(3, 11) for form in words["numbers"][value].split("|")]
    spelled += [(form, value) for value, form in enumerate(words["counts"], 3)]
    lengths = {fold(form): value for form, value in spelled}
    units = tuple(map(fold, words["digits"]))
    named = "|".join(sorted(map(re.escape, lengths), key=len, reverse=True))
    return _AskingWords(
        {
            kind: re.compile("|".join(f"(?<![a-z])(?:{fold(each)})" for each in asked))
            for kind, asked in words["asked"].items()
        },
        units,
        re.compile(rf"{'' if is_unspaced(language) else NO_WORD_BEFORE}({named}|\d{{1,2}})[\s-]*(?:{'|'.join(units)})"),
        lengths,
        re.compile("|".join(map(fold, words["last"]))),
    )


class _EnglishValues:
    def asked_kinds(self, sentence: str) -> tuple[str, ...]:
        return asked_kinds(sentence)

    def measure(self, text: str, kinds: tuple[str, ...]) -> ValueProgress:
        return expected_values.measure_progress(text, kinds)

    def is_yes_no(self, sentence: str, kinds: Sequence[str]) -> bool:
        return "yes_no" in kinds and expected_values.is_closed_question(sentence)

    def ends_in_number(self, text: str) -> bool:
        return expected_values.ends_in_number(text)


class SpokenValues:
    """Values in another language. ``region`` (ISO alpha-2) is where its telephone numbers are, if that is known."""

    def __init__(self, numbers: SpokenNumbers, region: str) -> None:
        self._numbers, self._region = numbers, region
        words = numbers.words
        self._open = _any_of(words["open"])
        self._numbered = frozenset(map(fold, words["numbered"]))
        self._read = lru_cache(maxsize=64)(numbers.read)
        self.measure = lru_cache(maxsize=64)(self._measure_all)
        self._asks_yes_no = lru_cache(maxsize=64)(self._is_closed)

    def asked_kinds(self, sentence: str) -> tuple[str, ...]:
        return asked_kinds(sentence, (self._numbers.language,))

    def is_yes_no(self, sentence: str, kinds: Sequence[str]) -> bool:
        return self._asks_yes_no(sentence)

    def _is_closed(self, sentence: str) -> bool:
        return is_question(sentence) and not self._open.search(sentence.lower()) and not self.asked_kinds(sentence)

    def ends_in_number(self, text: str) -> bool:
        pieces = self._read(text)
        if len(pieces) > 2 and all(piece.part is Part.WORD and _is_letter(piece.text) for piece in pieces[-2:]):
            return True
        digits, at = 0, len(pieces)
        while at and pieces[at - 1].part in SPOKEN_NUMBER | {Part.REPEAT}:
            at -= 1
            digits += len(pieces[at].text) if pieces[at].part is Part.DIGITS else 1
        if not digits:
            return False
        before = {piece.text for piece in pieces[:at]}
        return MIN_DIGITS <= digits < MAX_DIGITS or (digits < MIN_DIGITS and not self._numbered.isdisjoint(before))

    def _measure_all(self, text: str, kinds: tuple[str, ...]) -> ValueProgress:
        pieces = self._read(text)
        found = {self._measure(text, pieces, kind) for kind in kinds} if pieces else set()
        found -= {ValueProgress.UNKNOWN}
        return found.pop() if len(found) == 1 else ValueProgress.UNKNOWN

    def _measure(self, text: str, pieces: Sequence[Piece], kind: str) -> ValueProgress:
        if kind == "birth_date":
            return self._measure_birth_date(pieces)
        digits, is_open = last_number(pieces), pieces[-1].part not in SPOKEN_NUMBER
        if not digits:
            return ValueProgress.UNKNOWN
        if kind == "phone":
            return self._measure_phone(digits, is_open=is_open, has_plus="+" in text)
        if kind == "card":
            return whole_or_part(len(digits), card_length(digits), is_open=is_open)
        if kind.startswith("digits_"):
            return whole_or_part(len(digits), int(kind.removeprefix("digits_")), is_open=is_open)
        return ValueProgress.UNKNOWN

    def _measure_phone(self, digits: str, *, is_open: bool, has_plus: bool) -> ValueProgress:
        if is_open:
            return ValueProgress.PART
        if not self._region and not has_plus:
            return ValueProgress.PART if len(digits) < _MIN_PHONE_DIGITS else ValueProgress.UNKNOWN
        written = ("+" if has_plus else "") + digits
        if _is_valid(written, self._region):
            may_go_on = any(_is_valid(f"{written}{digit}", self._region) for digit in range(10))
            return ValueProgress.UNKNOWN if may_go_on else ValueProgress.WHOLE
        return ValueProgress.UNKNOWN if len(digits) > MAX_DIGITS + 1 and not has_plus else ValueProgress.PART

    def _measure_birth_date(self, pieces: Sequence[Piece]) -> ValueProgress:
        parts = [piece.part for piece in pieces]
        day_at = max((at for at, part in enumerate(parts) if part in (Part.MONTH, Part.ORDINAL)), default=None)
        digits, is_year_first = last_number(pieces), "date_end" in self._numbers.words
        if is_year_first:
            if Part.MONTH in parts and parts[-1] is Part.DATE_END:
                return ValueProgress.WHOLE
        elif day_at is not None:
            whole = self._measure_year(pieces, Part.MONTH in parts)
            if whole is not None:
                return whole
        if len(digits) >= DATE_DIGITS:
            return ValueProgress.WHOLE
        if len(digits) >= SHORT_DATE_DIGITS:
            return ValueProgress.UNKNOWN
        is_date = bool(digits) or parts[-1] in (Part.MONTH, Part.ORDINAL)
        goes_on = (is_year_first or Part.MONTH in parts) and pieces[-1].text in _YEAR_MARKS
        return ValueProgress.PART if is_date or goes_on else ValueProgress.UNKNOWN

    def _measure_year(self, pieces: Sequence[Piece], has_month: bool) -> ValueProgress | None:
        """Returns whether a date ends with its year; None while there is none."""
        *said, last = pieces
        is_closed = last.part is Part.CLOSING
        said = said if is_closed else list(pieces)
        year = last_number(said, with_ordinals=True)[-4:]
        if not YEAR.fullmatch(year) or not (has_month or Part.ORDINAL in [piece.part for piece in said]):
            return None
        end = said[-1]
        # "mil novecientos ochenta" may become "ochenta y cinco"
        may_go_on = end.part in (Part.HUNDRED, Part.THOUSAND) or (end.part is Part.NUMBER and end.value % 10 == 0)
        return ValueProgress.UNKNOWN if may_go_on and not is_closed else ValueProgress.WHOLE


ENGLISH_VALUES: Final = _EnglishValues()


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    """Returns what finds one of these words, as whole words where a language writes spaces."""
    named = "|".join(map(re.escape, words))
    return re.compile(f"(?:{named})" if words[0] >= "\u3040" else rf"{NO_WORD_BEFORE}(?:{named})(?!\w)")


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text < "\u3040"


@lru_cache(maxsize=512)
def _is_valid(digits: str, region: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(digits, region or None))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=256)
def values_in(language: str) -> ValueReader | None:
    """Returns the reader for a language tag ("es-MX"); None for a language without words."""
    code = primary_language(language)
    if code == DEFAULT_LANGUAGE:
        return ENGLISH_VALUES
    numbers = numbers_of(code)
    if numbers is None:
        return None
    parts = (part.upper() for part in re.split("[-_]", language)[1:])
    return SpokenValues(numbers, next((part for part in parts if part in phonenumbers.SUPPORTED_REGIONS), ""))
