"""Lists of thousands of rows as JSON that PostgreSQL writes: reading the rows and their values takes Python longer.

Its own row_to_json asks the catalogue for the type of every value of every row; here the caller says what needs quotes.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, Text, cast, func, literal, select
from sqlalchemy.types import NullType

_ISO_8601: Final = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'


def inline(value: str) -> BindParameter[str]:
    """A value that stands in the statement: a plan that is kept for any value can use no index of one value."""
    return literal(value, literal_execute=True)


def bare(value: Any) -> ColumnElement[str]:
    """A whole number, or null."""
    return func.coalesce(cast(value, Text), inline("null"))


def truth(value: ColumnElement[bool]) -> ColumnElement[str]:
    """A truth value that is never null."""
    return cast(value, Text)


def quoted(value: Any) -> ColumnElement[str]:
    """A text that is never null and has nothing to be escaped: a UUID, a word of ours."""
    return func.concat(inline('"'), value, inline('"'))


def escaped(value: Any) -> ColumnElement[str]:
    """Any text that is never null."""
    return cast(func.to_json(value), Text)


def moment(value: Any) -> ColumnElement[str]:
    """A time that is never null, in UTC."""
    return quoted(func.to_char(func.timezone(inline("UTC"), value), inline(_ISO_8601)))


def json_object(members: Mapping[str, ColumnElement[str]]) -> ColumnElement[str]:
    """An object of values that are JSON already, in this order."""
    parts: list[ColumnElement[str]] = []
    for name, value in members.items():
        parts += [inline(f'{"," if parts else "{"}"{name}":'), value]
    return func.concat(*parts, inline("}"))


def in_arrays(listed: Select[*tuple[Any, ...]]) -> Select[Any]:
    """The rows of ``listed`` as one: an array of each column, in its order; None when there are no rows."""
    rows = listed.subquery("listed")
    # Without types: SQLAlchemy would look at every value of an array.
    arrays: list[ColumnElement[Any]] = [func.array_agg(column, type_=NullType()) for column in rows.c]
    return select(*arrays)
