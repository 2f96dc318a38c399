"""Lists of thousands of rows as JSON written by PostgreSQL: reading the rows and their values takes Python longer.

PostgreSQL's own row_to_json looks up the type of every value of every row; here the caller says what needs quotes.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, Text, cast, func, literal, select
from sqlalchemy.types import NullType

_ISO_8601: Final = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'


def inline_literal(value: str) -> BindParameter[str]:
    """Returns a value inlined in the statement: a generic plan cannot use an index that holds a single value."""
    return literal(value, literal_execute=True)


def json_number(value: Any) -> ColumnElement[str]:
    """Returns a whole number, or null."""
    return func.coalesce(cast(value, Text), inline_literal("null"))


def json_boolean(value: ColumnElement[bool]) -> ColumnElement[str]:
    """Returns a boolean that is never null."""
    return cast(value, Text)


def json_plain_text(value: Any) -> ColumnElement[str]:
    """Returns a text that is never null and needs no escaping: a UUID, a keyword of ours."""
    return func.concat(inline_literal('"'), value, inline_literal('"'))


def json_text(value: Any) -> ColumnElement[str]:
    """Returns any text that is never null."""
    return cast(func.to_json(value), Text)


def json_time(value: Any) -> ColumnElement[str]:
    """Returns a time that is never null, in UTC."""
    return json_plain_text(func.to_char(func.timezone(inline_literal("UTC"), value), inline_literal(_ISO_8601)))


def json_object(members: Mapping[str, ColumnElement[str]]) -> ColumnElement[str]:
    """Returns an object of values that are already JSON, in this order."""
    parts: list[ColumnElement[str]] = []
    for name, value in members.items():
        parts += [inline_literal(f'{"," if parts else "{"}"{name}":'), value]
    return func.concat(*parts, inline_literal("}"))


def rows_as_arrays(listed: Select[*tuple[Any, ...]]) -> Select[Any]:
    """Returns the rows of ``listed`` as one row: an array per column, in its order; None when there are no rows."""
    rows = listed.subquery("listed")
    # Untyped: SQLAlchemy would process every value of an array.
    arrays: list[ColumnElement[Any]] = [func.array_agg(column, type_=NullType()) for column in rows.c]
    return select(*arrays)
