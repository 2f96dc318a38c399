"""The forms in which a text can hold one phone number. Pure."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import phonenumbers

ERASED: Final = "[erased]"
_DIGITS: Final = {
    "0": "(?:0|zero|oh|o)",
    "1": "(?:1|one)",
    "2": "(?:2|two)",
    "3": "(?:3|three)",
    "4": "(?:4|four)",
    "5": "(?:5|five)",
    "6": "(?:6|six)",
    "7": "(?:7|seven)",
    "8": "(?:8|eight)",
    "9": "(?:9|nine)",
}
_GAP: Final = r"[\s().,/_\u00a0-]{0,3}"
# Shorter ones would also be found in amounts, dates and postal codes.
_MIN_NATIONAL_DIGITS: Final = 7


class NumberForms:
    """Finds a number in E.164, with any prefix, within its country, with separators, and spoken digit by digit (English).

    A national part of fewer than 7 digits is found with its country code only.
    """

    def __init__(self, e164: str) -> None:
        self.e164 = e164
        code = str(phonenumbers.parse(e164).country_code)
        national = e164[1 + len(code) :]
        self._digits = (e164[1:], national) if len(national) >= _MIN_NATIONAL_DIGITS else (e164[1:],)
        self._code = code
        self._national = national

    @property
    def search_pattern(self) -> str:
        """The regular expression for PostgreSQL (without case), for texts that may have the number; :meth:`contains`
        decides."""
        return _spell(self._digits[-1])

    @property
    def word_core(self) -> str:
        """The regular expression for a search index that may have the number as one of its words."""
        return "[._/+-]{0,2}".join(self._digits[-1])

    @property
    def word_pattern(self) -> str:
        """The regular expression for one word of a search index."""
        return rf"(^|[^0-9])({self._code})?[._/+-]{{0,2}}{self.word_core}([^0-9]|$)"

    @property
    def exact_forms(self) -> list[str]:
        """The texts that are this number, for columns that hold nothing else."""
        return [self.e164, self.e164[1:], f"00{self.e164[1:]}", *self._digits[1:]]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        international = rf"(?:\+|00|%2b)?{_spell(self._code)}{_GAP}(?:\(0\))?{_GAP}"
        prefix = rf"(?:{international}|0{_GAP})" + ("?" if len(self._digits) > 1 else "")
        return re.compile(rf"(?<![0-9a-z]){prefix}\(?{_spell(self._national)}(?![0-9a-z])", re.IGNORECASE)

    def contains(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def erase_from_text(self, text: str) -> str:
        """Returns the text with :data:`ERASED` in place of the number."""
        return self._pattern.sub(ERASED, text)

    def erase_from_value(self, value: Any) -> Any:
        """Returns a JSON value with :data:`ERASED` in place of the number, in names as well."""
        if isinstance(value, str):
            return self.erase_from_text(value)
        if isinstance(value, dict):
            return {self.erase_from_text(name): self.erase_from_value(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.erase_from_value(part) for part in value]
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and self.contains(str(value).removesuffix(".0"))
        ):
            return ERASED
        return value

    def is_in_values(self, values: Iterable[Any]) -> bool:
        """Returns whether one of these JSON values has the number."""
        return any(self.erase_from_value(value) != value for value in values)


def _spell(digits: str) -> str:
    return _GAP.join(_DIGITS[digit] for digit in digits)
