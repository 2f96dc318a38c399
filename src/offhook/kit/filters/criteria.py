"""The ``filters`` parameter of lists: JSON criteria become SQL conditions on the fields that a list declares."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Numeric,
    SmallInteger,
    UnaryExpression,
    and_,
    case,
    cast,
    false,
    func,
    literal,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import operators

from offhook.errors import UnprocessableRequest
from offhook.kit.filters.date_conditions import date_range_condition
from offhook.kit.filters.filter_values import BadValue, date_range, is_storable, number_range, options_of, text_of

FilterType = Literal["number", "text", "select", "date", "boolean"]
TYPES: tuple[FilterType, ...] = ("number", "text", "select", "date", "boolean")

MAX_LENGTH = 20_000
MAX_CRITERIA = 50

FilterColumn = ColumnElement[Any] | InstrumentedAttribute[Any]


class FilterInvalid(UnprocessableRequest):
    """The filters cannot be used."""

    code = "filter_invalid"

    def __init__(self, where: list[str | int], message: str, kind: str) -> None:
        super().__init__(message, detail=[{"loc": ["query", *where], "msg": message, "type": kind}])


@dataclass(frozen=True, slots=True)
class NamedValueColumns:
    """Columns of a table with one row per named value: its field name, its text, and its number if it is one."""

    name: FilterColumn
    text: FilterColumn
    number: FilterColumn


@dataclass(frozen=True, slots=True)
class FilterField:
    """A filterable column and its allowed types. Under a name that ends in ``.*`` (``"context.*"``), the column is
    JSONB and the rest of the criterion's field name is the key in it, or the values are rows of their own
    (:class:`NamedValueColumns`)."""

    column: FilterColumn | NamedValueColumns
    types: frozenset[FilterType]

    @classmethod
    def for_column(cls, column: FilterColumn | NamedValueColumns, *types: FilterType) -> "FilterField":
        return cls(column, frozenset(types))


@dataclass(frozen=True, slots=True)
class FilterConditions:
    """Conditions to combine with AND. ``on_members`` read JSONB, or other rows of a :class:`NamedValueColumns` table.
    ``have_text``: some search for a substring, so that an index is scanned from beginning to end.
    """

    on_columns: list[ColumnElement[bool]]
    on_members: list[ColumnElement[bool]]
    have_text: bool = False

    @property
    def all_conditions(self) -> list[ColumnElement[bool]]:
        return [*self.on_columns, *self.on_members]


def parse_conditions(raw: str | None, fields: Mapping[str, FilterField]) -> FilterConditions:
    """Returns the conditions of a JSON array of ``{field, type, value}``; none for an empty text.

    ``attribute`` is an alias of ``field``. Raises :class:`FilterInvalid` (422), naming the bad part.
    """
    criteria = _parse_criteria(raw) if raw is not None and raw.strip() else []
    on_columns: list[ColumnElement[bool]] = []
    on_members: list[ColumnElement[bool]] = []
    for index, criterion in enumerate(criteria):
        condition, is_member = _build_condition(index, criterion, fields)
        (on_members if is_member else on_columns).append(condition)
    return FilterConditions(
        on_columns, on_members, have_text=any(criterion["type"] == "text" for criterion in criteria)
    )


def parse_filters(raw: str | None, fields: Mapping[str, FilterField]) -> list[ColumnElement[bool]]:
    """Returns all conditions of :func:`parse_conditions`, for lists that do not distinguish them."""
    return parse_conditions(raw, fields).all_conditions


def parse_sort(
    sort_by: str | None,
    sort_order: str | None,
    columns: Mapping[str, FilterColumn],
    *,
    default: str,
    tie_break: FilterColumn,
) -> list[UnaryExpression[Any]]:
    """Returns ``ORDER BY``: nulls last, with tie-breakers so that pages never overlap. ``sort_order`` is asc or
    desc."""
    key = sort_by or default
    if key not in columns:
        raise FilterInvalid(
            ["sort_by"], f"Unknown sort key {key!r}: use one of {_list_names(columns)}.", "sort_key_unknown"
        )
    order = sort_order or "desc"
    if order not in {"asc", "desc"}:
        raise FilterInvalid(["sort_order"], f"Unknown sort order {order!r}: use asc or desc.", "sort_order_unknown")
    column = columns[key]
    ordered = column.asc() if order == "asc" else column.desc()
    # An index only supports the null order it was created with, so a column without nulls must not request one.
    if getattr(column, "nullable", True):
        ordered = ordered.nulls_last()
    return [ordered, tie_break.asc() if order == "asc" else tie_break.desc()]


def reverse_sort(order: Sequence[UnaryExpression[Any]]) -> list[UnaryExpression[Any]]:
    """Returns the order of :func:`parse_sort` reversed, which the same index serves."""
    turned: list[UnaryExpression[Any]] = []
    for by in order:
        has_nulls_last = by.modifier is operators.nulls_last_op
        directed: Any = by.element if has_nulls_last else by
        column = directed.element
        other = column.asc() if directed.modifier is operators.desc_op else column.desc()
        turned.append(other.nulls_first() if has_nulls_last else other)
    return turned


def _parse_criteria(raw: str) -> list[Any]:
    def invalid_filters(message: str) -> FilterInvalid:
        return FilterInvalid(["filters"], message, "filters_invalid")

    if len(raw) > MAX_LENGTH:
        raise invalid_filters(f"The filters are longer than {MAX_LENGTH} characters.")
    try:
        criteria = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise invalid_filters("The filters are not JSON: send an array of {field, type, value}.") from None
    if not isinstance(criteria, list):
        raise invalid_filters("The filters are not a JSON array of {field, type, value}.")
    if len(criteria) > MAX_CRITERIA:
        raise invalid_filters(f"There are more than {MAX_CRITERIA} filters.")
    return criteria


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _build_condition(index: int, criterion: Any, fields: Mapping[str, FilterField]) -> tuple[ColumnElement[bool], bool]:
    """Returns the condition, and whether it reads JSONB."""
    if not isinstance(criterion, dict):
        raise FilterInvalid(["filters", index], "A filter is an object {field, type, value}.", "filter_invalid")
    name = criterion.get("field", criterion.get("attribute"))
    kind = criterion.get("type")
    found = _find_field(name, fields) if isinstance(name, str) else None
    if found is None:
        raise FilterInvalid(
            ["filters", index, "field"],
            f"Unknown filter field {_quote_value(name)}: use one of {_list_names(fields)}.",
            "filter_field_unknown",
        )
    field, key = found
    if kind not in TYPES:
        raise FilterInvalid(
            ["filters", index, "type"],
            f"Unknown filter type {_quote_value(kind)} of field {_quote_value(name)}: use one of {', '.join(TYPES)}.",
            "filter_type_unknown",
        )
    if kind not in field.types:
        raise FilterInvalid(
            ["filters", index, "type"],
            f"Field {_quote_value(name)} cannot be filtered by type {kind!r}: use {_list_names(field.types)}.",
            "filter_type_not_allowed",
        )
    try:
        build = _COLUMN_BUILDERS[kind] if key is None else _JSON_BUILDERS[kind]
        if key is None:
            return build(field.column, criterion.get("value")), False
        if isinstance(field.column, NamedValueColumns):
            named = field.column
            return and_(named.name == name, build(named, criterion.get("value"))), True
        return build(_JsonMember(field.column, key), criterion.get("value")), True
    except BadValue as bad:
        raise FilterInvalid(
            ["filters", index, "value"],
            f"The value of filter {_quote_value(name)} ({kind}) is wrong: {bad}.",
            "filter_value_invalid",
        ) from None


def _find_field(name: str, fields: Mapping[str, FilterField]) -> tuple[FilterField, str | None] | None:
    if name in fields and not name.endswith(".*"):
        return fields[name], None
    prefix, dot, key = name.partition(".")
    if dot and key and len(key) <= 100 and is_storable(key) and f"{prefix}.*" in fields:
        return fields[f"{prefix}.*"], key
    return None


def _quote_value(value: Any) -> str:
    return ascii(value)[:100]


def _list_names(names: Any) -> str:
    return ", ".join(sorted(name.replace(".*", ".<name>") for name in names))


# --- conditions on columns


def _integer_bounds(column: FilterColumn) -> tuple[int, int] | None:
    """Returns the range of an integer column's type; None for other numbers."""
    if isinstance(column.type, BigInteger):
        return -(2**63), 2**63 - 1
    if isinstance(column.type, SmallInteger):
        return -(2**15), 2**15 - 1
    if isinstance(column.type, Integer):
        return -(2**31), 2**31 - 1
    return None


def _by_number(column: FilterColumn, value: Any) -> ColumnElement[bool]:
    low, high = number_range(value)
    bounds = _integer_bounds(column)
    if bounds is None:
        # Not in the column's own type: NUMERIC(10, 3) would reject a bound that no row can have.
        exact = [column >= literal(low, Numeric())] if low is not None else []
        return and_(*exact, *([column <= literal(high, Numeric())] if high is not None else []))
    # Whole numbers in the column's own type, so that its index is used and no bound is too large for it.
    first = bounds[0] if low is None else math.ceil(low)
    last = bounds[1] if high is None else math.floor(high)
    if first > last or first > bounds[1] or last < bounds[0]:
        return false()
    if first == last:
        return column == first
    return and_(column >= max(first, bounds[0]), column <= min(last, bounds[1]), column.is_not(None))


def _by_text(column: FilterColumn, value: Any) -> ColumnElement[bool]:
    return _contains_text(column, text_of(value))


def _contains_text(column: Any, text: str) -> ColumnElement[bool]:
    """Returns a case-insensitive substring condition; digits skip lowering, which doubles the cost per row."""
    has_case = text.lower() != text.upper()
    info = getattr(column, "info", {})
    lowered = "".join(char.lower() if char.isascii() else char for char in text)
    found: ColumnElement[bool]
    if "lowered" in info:
        found = getattr(column.class_, info["lowered"]).like(like_pattern(lowered))
    elif has_case and info.get("is_ascii"):
        # a quarter less than ILIKE, which handles every alphabet
        found = func.lower(column.collate("C")).like(like_pattern(lowered))
    else:
        found = (column.ilike if has_case else column.like)(like_pattern(text))
    return found


def like_pattern(text: str) -> str:
    """Returns the LIKE pattern for text that contains this one, as a single value with LIKE's own escapes: a
    prepared statement would rebuild it for each row."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


def _by_select(column: FilterColumn, value: Any) -> ColumnElement[bool]:
    options = options_of(value)
    if isinstance(column.type, ARRAY):
        overlaps: ColumnElement[bool] = column.overlap([str(option) for option in options])
        return overlaps
    bounds = _integer_bounds(column)
    if bounds is None:
        return column.in_([str(option) for option in options])
    numbers = [_whole_number(option) for option in options]
    return column.in_([number for number in numbers if bounds[0] <= number <= bounds[1]])


def _whole_number(option: str | float) -> int:
    if isinstance(option, int) and not isinstance(option, bool):
        return option
    if isinstance(option, str) and re.fullmatch(r"-?[0-9]{1,20}", option):
        return int(option)
    raise BadValue("whole numbers are needed")


def _by_boolean(column: FilterColumn, value: Any) -> ColumnElement[bool]:
    return column.is_(_require_boolean(value))


def _require_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadValue("true or false is needed")
    return value


# --- conditions on a key of a JSONB column: values came from a CSV or a model, so their type is unknown


@dataclass(frozen=True, slots=True)
class _JsonMember:
    column: Any
    key: str

    @property
    def text(self) -> ColumnElement[str]:
        return func.jsonb_extract_path_text(self.column, self.key)

    @property
    def number(self) -> ColumnElement[Decimal]:
        value = func.jsonb_extract_path(self.column, self.key, type_=JSONB)
        # The CASE is a guard: PostgreSQL must not cast non-numbers. A pattern is four times as slow as the type check.
        return case(
            (func.jsonb_typeof(value) == "number", cast(value, Numeric)),
            (self.text.regexp_match(r"^-?\d{1,30}(\.\d{1,30})?$"), cast(self.text, Numeric)),
            else_=None,
        )


_Values = _JsonMember | NamedValueColumns


def _json_number(member: _Values, value: Any) -> ColumnElement[bool]:
    low, high = number_range(value)
    # Redundant with the comparison, but a partial index is only used when its condition is stated.
    conditions: list[ColumnElement[bool]] = (
        [member.number.is_not(None)] if isinstance(member, NamedValueColumns) else []
    )
    conditions += [member.number >= literal(low, Numeric())] if low is not None else []
    conditions += [member.number <= literal(high, Numeric())] if high is not None else []
    return and_(*conditions)


def _json_text(member: _Values, value: Any) -> ColumnElement[bool]:
    # in the database's own collation: that of a column sorted by bytes does not know capital É
    return _contains_text(member.text.collate("default"), text_of(value))


def _json_select(member: _Values, value: Any) -> ColumnElement[bool]:
    options = [str(option).lower() if isinstance(option, bool) else str(option) for option in options_of(value)]
    return member.text.in_(options)


def _json_date(member: _Values, value: Any) -> ColumnElement[bool]:
    start, stop, before = date_range(value)
    # ISO 8601 in one zone sorts as text; a cast would fail on a 31st of February.
    moment = member.text.collate("C")
    conditions: list[ColumnElement[bool]] = [member.text.regexp_match(r"^\d{4}-\d\d-\d\d")]
    conditions += [] if start is None else [moment >= _iso_prefix(start)]
    if stop is not None:
        conditions.append(moment < _iso_prefix(stop) if before else moment <= _iso_prefix(stop))
    return and_(*conditions)


def _iso_prefix(moment: datetime) -> str:
    return moment.isoformat()[:19].removesuffix("T00:00:00")


def _json_boolean(member: _Values, value: Any) -> ColumnElement[bool]:
    text = str(_require_boolean(value))
    return member.text.in_([text.lower(), text, text.upper()])


_Builder = Callable[[Any, Any], ColumnElement[bool]]
_COLUMN_BUILDERS: dict[str, _Builder] = {
    "number": _by_number,
    "text": _by_text,
    "select": _by_select,
    "date": date_range_condition,
    "boolean": _by_boolean,
}
_JSON_BUILDERS: dict[str, _Builder] = {
    "number": _json_number,
    "text": _json_text,
    "select": _json_select,
    "date": _json_date,
    "boolean": _json_boolean,
}
