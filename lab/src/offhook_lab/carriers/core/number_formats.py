"""Helpers for the number notations of carriers."""

import re
from typing import Final

_E164: Final = re.compile(r"\+[1-9]\d{6,14}")
_DIGITS: Final = re.compile(r"[1-9]\d{6,14}")


def is_e164(text: str) -> bool:
    return _E164.fullmatch(text) is not None


def is_digits(text: str) -> bool:
    """Returns True for E.164 without its plus, as some carriers write numbers."""
    return _DIGITS.fullmatch(text) is not None


def with_plus(number: str) -> str:
    """Returns the number with a plus, however it was written."""
    return number if number.startswith("+") or not number[:1].isdigit() else f"+{number}"


def without_plus(number: str) -> str:
    """Returns the number without its plus."""
    return number.removeprefix("+")
