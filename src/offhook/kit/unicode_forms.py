"""Brings text into one of Unicode's normal forms in linear time."""

import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# As in Unicode's stream-safe text format: no language has more.
MAX_MARKS_IN_A_ROW: Final = 30
# What is shorter takes a fraction of a millisecond, whatever it is.
_MAX_UNCHECKED_CHARS: Final = 300
# No marks by their class, but they decompose to marks.
_HIDDEN_MARKS: Final = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")


def normalize_text(form: Form, text: str) -> str:
    """Returns the text in this form. Drops marks beyond the first :data:`MAX_MARKS_IN_A_ROW` on one letter:
    sorting them takes quadratic time, a minute for 200,000, and nothing else in the process runs until then."""
    if len(text) > _MAX_UNCHECKED_CHARS and not text.isascii():
        text = "".join(_leave_out_marks(text))
    return unicodedata.normalize(form, text)


def _leave_out_marks(text: str) -> Iterator[str]:
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) or char in _HIDDEN_MARKS else 0
        if marks <= MAX_MARKS_IN_A_ROW:
            yield char
