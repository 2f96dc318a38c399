"""Conditions on times, for list filters of type ``date`` and for plain ``from`` and ``to`` parameters."""

from typing import Any

from sqlalchemy import ColumnElement, and_
from sqlalchemy.orm import InstrumentedAttribute

from offhook.kit.filters.filter_values import date_range


def date_condition(
    column: ColumnElement[Any] | InstrumentedAttribute[Any], *, start: str | None = None, end: str | None = None
) -> ColumnElement[bool]:
    """Builds the condition that a column lies between two ISO 8601 times; a plain date as the end includes the whole
    day.

    Raises BadValue when a time is invalid, or when neither is given.
    """
    return date_range_condition(column, {"from": start, "to": end})


def date_range_condition(column: ColumnElement[Any] | InstrumentedAttribute[Any], value: object) -> ColumnElement[bool]:
    """Builds the same condition from a filter's ``{from, to}``."""
    start, stop, is_stop_excluded = date_range(value)
    conditions: list[ColumnElement[bool]] = [] if start is None else [column >= start]
    if stop is not None:
        conditions.append(column < stop if is_stop_excluded else column <= stop)
    return and_(*conditions)
