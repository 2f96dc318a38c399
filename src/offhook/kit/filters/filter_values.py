"""Parses the values of filter criteria, with a one-sentence error for invalid ones."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

MAX_OPTIONS = 500
MAX_TEXT = 1000
MAX_NUMBER = 10**308


class BadValue(ValueError):
    pass


def is_storable(text: str) -> bool:
    """Returns whether PostgreSQL can store the text: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def text_of(value: Any) -> str:
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT or not is_storable(value):
        raise BadValue(f"a text of 1 to {MAX_TEXT} characters is needed")
    return value


def number_of(value: Any) -> Decimal:
    # A whole number of hundreds of digits has no float, and fits no column.
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MAX_NUMBER <= value <= MAX_NUMBER:
        raise BadValue("a number, or {min, max}, is needed")
    return Decimal(str(value))


def number_range(value: Any) -> tuple[Decimal | None, Decimal | None]:
    """Returns (low, high), both inclusive; a plain number is both."""
    if not isinstance(value, dict):
        exact = number_of(value)
        return exact, exact
    if not set(value) <= {"min", "max"}:
        raise BadValue("a range has only min and max")
    low, high = value.get("min"), value.get("max")
    if low is None and high is None:
        raise BadValue("a range needs min or max")
    return (None if low is None else number_of(low)), (None if high is None else number_of(high))


def options_of(value: Any) -> list[str | int | bool | float]:
    options = value if isinstance(value, list) else [value]
    if len(options) > MAX_OPTIONS:
        raise BadValue(f"at most {MAX_OPTIONS} options")
    for option in options:
        if not isinstance(option, str | int | float) or (isinstance(option, str) and not is_storable(option)):
            raise BadValue("one text or number, or a list of them, is needed")
    return options


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def moment_of(value: Any, *, end: bool) -> datetime | None:
    """Returns a time; a plain date is its first moment, or, as an end, the first moment after it."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue("from and to are ISO 8601 times")
    try:
        if _DAY.fullmatch(value):
            day = datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC)
            return day + timedelta(days=1) if end else day
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValue("from and to are ISO 8601 times") from None


def date_range(value: Any) -> tuple[datetime | None, datetime | None, bool]:
    """Returns (from, to, whether ``to`` itself is excluded because it was a whole day)."""
    if not isinstance(value, dict) or not set(value) <= {"from", "to"}:
        raise BadValue("an object {from, to} is needed")
    start, stop = moment_of(value.get("from"), end=False), moment_of(value.get("to"), end=True)
    if start is None and stop is None:
        raise BadValue("from or to is needed")
    whole_day = isinstance(value.get("to"), str) and bool(_DAY.fullmatch(value["to"]))
    return start, stop, whole_day
