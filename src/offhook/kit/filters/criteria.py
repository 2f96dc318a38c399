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
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import operators

from offhook.errors import Unprocessable
from offhook.kit.filters.filter_values import BadValue, date_range, is_storable, number_range, options_of, text_of

FilterType = Literal["number", "text", "select", "date", "boolean"]
TYPES: tuple[FilterType, ...] = ("number", "text", "select", "date", "boolean")

MAX_LENGTH = 20_000
MAX_CRITERIA = 50

Column = ColumnElement[Any] | InstrumentedAttribute[Any]


class FilterInvalid(Unprocessable):
    """The filters cannot be used."""

    code = "filter_invalid"

    def __init__(self, where: list[str | int], message: str, kind: str) -> None:
        super().__init__(message, detail=[{"loc": ["query", *where], "msg": message, "type": kind}])


@dataclass(frozen=True, slots=True)
class Named:
    """Columns of a table with a row for each named value: the criterion's whole field name, the value as text, and as a
    number where it is one.
    """

    name: Column
    text: Column
    number: Column


@dataclass(frozen=True, slots=True)
class Field:
    """A column that may be filtered, and by which types. Under a name that ends in ``.*`` (``"context.*"``) the column is
    JSONB and the rest of the criterion's field name is the key in it, or the values are rows of their own (:class:`Named`).
    """

    column: Column | Named
    types: frozenset[FilterType]

    @classmethod
    def of(cls, column: Column | Named, *types: FilterType) -> "Field":
        return cls(column, frozenset(types))


@dataclass(frozen=True, slots=True)
class Conditions:
    """To be AND-combined. ``on_members`` look into JSONB, or each at another row of a :class:`Named` table.
    ``have_text``: some look for a text inside of texts, so that an index is read from its beginning to its end.
    """

    on_columns: list[ColumnElement[bool]]
    on_members: list[ColumnElement[bool]]
    have_text: bool = False

    @property
    def all(self) -> list[ColumnElement[bool]]:
        return [*self.on_columns, *self.on_members]


def parse_conditions(raw: str | None, fields: Mapping[str, Field]) -> Conditions:
    """The conditions of a JSON array of ``{field, type, value}``; nothing or blank is no condition.

    ``attribute`` is another name of ``field``. Raises :class:`FilterInvalid` (422), which names the bad part.
    """
    criteria = _criteria(raw) if raw is not None and raw.strip() else []
    on_columns: list[ColumnElement[bool]] = []
    on_members: list[ColumnElement[bool]] = []
    for index, criterion in enumerate(criteria):
        condition, is_member = _condition(index, criterion, fields)
        (on_members if is_member else on_columns).append(condition)
    return Conditions(on_columns, on_members, have_text=any(criterion["type"] == "text" for criterion in criteria))


def parse_filters(raw: str | None, fields: Mapping[str, Field]) -> list[ColumnElement[bool]]:
    """All conditions of :func:`parse_conditions`, for lists that need not tell them apart."""
    return parse_conditions(raw, fields).all


def parse_sort(
    sort_by: str | None, sort_order: str | None, columns: Mapping[str, Column], *, default: str, tie_break: Column
) -> list[UnaryExpression[Any]]:
    """``ORDER BY`` for a list: nulls last, ties broken so that pages never overlap. ``sort_order`` is asc or desc."""
    key = sort_by or default
    if key not in columns:
        raise FilterInvalid(
            ["sort_by"], f"Unknown sort key {key!r}: use one of {_listed(columns)}.", "sort_key_unknown"
        )
    order = sort_order or "desc"
    if order not in {"asc", "desc"}:
        raise FilterInvalid(["sort_order"], f"Unknown sort order {order!r}: use asc or desc.", "sort_order_unknown")
    column = columns[key]
    ordered = column.asc() if order == "asc" else column.desc()
    # An index cannot give another order of nulls than it was made with, so a column without nulls must not ask for one.
    if getattr(column, "nullable", True):
        ordered = ordered.nulls_last()
    return [ordered, tie_break.asc() if order == "asc" else tie_break.desc()]


def from_the_end(order: Sequence[UnaryExpression[Any]]) -> list[UnaryExpression[Any]]:
    """The order of :func:`parse_sort` read backwards: the same index gives it."""
    return [_turned(by) for by in order]


def _turned(by: UnaryExpression[Any]) -> UnaryExpression[Any]:
    has_nulls_last = by.modifier is operators.nulls_last_op
    directed: Any = by.element if has_nulls_last else by
    column = directed.element
    turned: UnaryExpression[Any] = column.asc() if directed.modifier is operators.desc_op else column.desc()
    return turned.nulls_first() if has_nulls_last else turned


def _criteria(raw: str) -> list[Any]:
    def refuse(message: str) -> FilterInvalid:
        return FilterInvalid(["filters"], message, "filters_invalid")

    if len(raw) > MAX_LENGTH:
        raise refuse(f"The filters are longer than {MAX_LENGTH} characters.")
    try:
        criteria = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise refuse("The filters are not JSON: send an array of {field, type, value}.") from None
    if not isinstance(criteria, list):
        raise refuse("The filters are not a JSON array of {field, type, value}.")
    if len(criteria) > MAX_CRITERIA:
        raise refuse(f"More than {MAX_CRITERIA} filters.")
    return criteria


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _condition(index: int, criterion: Any, fields: Mapping[str, Field]) -> tuple[ColumnElement[bool], bool]:
    """The condition, and whether it looks into JSONB."""
    if not isinstance(criterion, dict):
        raise FilterInvalid(["filters", index], "A filter is an object {field, type, value}.", "filter_invalid")
    name = criterion.get("field", criterion.get("attribute"))
    kind = criterion.get("type")
    found = _find(name, fields) if isinstance(name, str) else None
    if found is None:
        raise FilterInvalid(
            ["filters", index, "field"],
            f"Unknown filter field {_shown(name)}: use one of {_listed(fields)}.",
            "filter_field_unknown",
        )
    field, key = found
    if kind not in TYPES:
        raise FilterInvalid(
            ["filters", index, "type"],
            f"Unknown filter type {_shown(kind)} of field {_shown(name)}: use one of {', '.join(TYPES)}.",
            "filter_type_unknown",
        )
    if kind not in field.types:
        raise FilterInvalid(
            ["filters", index, "type"],
            f"Field {_shown(name)} cannot be filtered by type {kind!r}: use {_listed(field.types)}.",
            "filter_type_not_allowed",
        )
    try:
        build = _COLUMN_BUILDERS[kind] if key is None else _JSON_BUILDERS[kind]
        if key is None:
            return build(field.column, criterion.get("value")), False
        if isinstance(field.column, Named):
            named = field.column
            return and_(named.name == name, build(named, criterion.get("value"))), True
        return build(_Member(field.column, key), criterion.get("value")), True
    except BadValue as bad:
        raise FilterInvalid(
            ["filters", index, "value"],
            f"The value of filter {_shown(name)} ({kind}) is wrong: {bad}.",
            "filter_value_invalid",
        ) from None


def _find(name: str, fields: Mapping[str, Field]) -> tuple[Field, str | None] | None:
    if name in fields and not name.endswith(".*"):
        return fields[name], None
    prefix, dot, key = name.partition(".")
    if dot and key and len(key) <= 100 and is_storable(key) and f"{prefix}.*" in fields:
        return fields[f"{prefix}.*"], key
    return None


def _shown(value: Any) -> str:
    return ascii(value)[:100]


def _listed(names: Any) -> str:
    return ", ".join(sorted(name.replace(".*", ".<name>") for name in names))


# --- conditions on columns


def _bounds(column: Column) -> tuple[int, int] | None:
    """The range of an integer column's type; None for other numbers."""
    if isinstance(column.type, BigInteger):
        return -(2**63), 2**63 - 1
    if isinstance(column.type, SmallInteger):
        return -(2**15), 2**15 - 1
    if isinstance(column.type, Integer):
        return -(2**31), 2**31 - 1
    return None


def _all(conditions: list[ColumnElement[bool]]) -> ColumnElement[bool]:
    return and_(*conditions)


def _by_number(column: Column, value: Any) -> ColumnElement[bool]:
    low, high = number_range(value)
    bounds = _bounds(column)
    if bounds is None:
        # Not in the column's own type: NUMERIC(10, 3) would refuse a bound that no row can have.
        exact = [column >= literal(low, Numeric())] if low is not None else []
        return _all(exact + ([column <= literal(high, Numeric())] if high is not None else []))
    # Whole numbers in the column's own type, so that its index is used and no bound can be too large for it.
    first = bounds[0] if low is None else math.ceil(low)
    last = bounds[1] if high is None else math.floor(high)
    if first > last or first > bounds[1] or last < bounds[0]:
        return false()
    if first == last:
        return column == first
    return _all([column >= max(first, bounds[0]), column <= min(last, bounds[1]), column.is_not(None)])


def _by_text(column: Column, value: Any) -> ColumnElement[bool]:
    return _contains(column, text_of(value))


def _contains(column: Any, text: str) -> ColumnElement[bool]:
    """Whether a text stands in a column in whatever case; digits have none, and lowering every row costs as much again."""
    has_case = text.lower() != text.upper()
    info = getattr(column, "info", {})
    lowered = "".join(char.lower() if char.isascii() else char for char in text)
    found: ColumnElement[bool]
    if "lowered" in info:
        found = getattr(column.class_, info["lowered"]).like(anywhere(lowered))
    elif has_case and info.get("is_ascii"):
        # a quarter less than ILIKE, which knows every alphabet
        found = func.lower(column.collate("C")).like(anywhere(lowered))
    else:
        found = (column.ilike if has_case else column.like)(anywhere(text))
    return found


def anywhere(text: str) -> str:
    """The LIKE pattern of whatever holds this text, as one value with LIKE's own escapes: a prepared statement would put
    it together again for each row."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


def _by_select(column: Column, value: Any) -> ColumnElement[bool]:
    options = options_of(value)
    bounds = _bounds(column)
    if bounds is None:
        return column.in_([str(option) for option in options])
    numbers = [_whole(option) for option in options]
    return column.in_([number for number in numbers if bounds[0] <= number <= bounds[1]])


def _whole(option: str | float) -> int:
    if isinstance(option, int) and not isinstance(option, bool):
        return option
    if isinstance(option, str) and re.fullmatch(r"-?[0-9]{1,20}", option):
        return int(option)
    raise BadValue("whole numbers are needed")


def _by_date(column: Column, value: Any) -> ColumnElement[bool]:
    start, stop, before = date_range(value)
    conditions: list[ColumnElement[bool]] = [] if start is None else [column >= start]
    if stop is not None:
        conditions.append(column < stop if before else column <= stop)
    return _all(conditions)


def _by_boolean(column: Column, value: Any) -> ColumnElement[bool]:
    return column.is_(_boolean(value))


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadValue("true or false is needed")
    return value


# --- conditions on a key of a JSONB column: values came from a CSV or a model, so nothing is known about their type


@dataclass(frozen=True, slots=True)
class _Member:
    column: Any
    key: str

    @property
    def text(self) -> ColumnElement[str]:
        return func.jsonb_extract_path_text(self.column, self.key)

    @property
    def number(self) -> ColumnElement[Decimal]:
        value = func.jsonb_extract_path(self.column, self.key, type_=JSONB)
        # The CASE is a guard: PostgreSQL must not cast what is not a number. A pattern is four times as slow as the type.
        return case(
            (func.jsonb_typeof(value) == "number", cast(value, Numeric)),
            (self.text.regexp_match(r"^-?\d{1,30}(\.\d{1,30})?$"), cast(self.text, Numeric)),
            else_=None,
        )


_Values = _Member | Named


def _json_number(member: _Values, value: Any) -> ColumnElement[bool]:
    low, high = number_range(value)
    # Said although a comparison says it too: a partial index is only used by who does.
    conditions: list[ColumnElement[bool]] = [member.number.is_not(None)] if isinstance(member, Named) else []
    conditions += [member.number >= literal(low, Numeric())] if low is not None else []
    return _all(conditions + ([member.number <= literal(high, Numeric())] if high is not None else []))


def _json_text(member: _Values, value: Any) -> ColumnElement[bool]:
    # in the database's own alphabet: that of a column that sorts by bytes knows no capital É
    return _contains(member.text.collate("default"), text_of(value))


def _json_select(member: _Values, value: Any) -> ColumnElement[bool]:
    options = [str(option).lower() if isinstance(option, bool) else str(option) for option in options_of(value)]
    return member.text.in_(options)


def _json_date(member: _Values, value: Any) -> ColumnElement[bool]:
    start, stop, before = date_range(value)
    # ISO 8601 in one zone sorts as text; a cast would fail on a 31st of February.
    moment = member.text.collate("C")
    conditions: list[ColumnElement[bool]] = [member.text.regexp_match(r"^\d{4}-\d\d-\d\d")]
    conditions += [] if start is None else [moment >= _iso(start)]
    if stop is not None:
        conditions.append(moment < _iso(stop) if before else moment <= _iso(stop))
    return _all(conditions)


def _iso(moment: datetime) -> str:
    return moment.isoformat()[:19].removesuffix("T00:00:00")


def _json_boolean(member: _Values, value: Any) -> ColumnElement[bool]:
    text = str(_boolean(value))
    return member.text.in_([text.lower(), text, text.upper()])


_Builder = Callable[[Any, Any], ColumnElement[bool]]
_COLUMN_BUILDERS: dict[str, _Builder] = {
    "number": _by_number,
    "text": _by_text,
    "select": _by_select,
    "date": _by_date,
    "boolean": _by_boolean,
}
_JSON_BUILDERS: dict[str, _Builder] = {
    "number": _json_number,
    "text": _json_text,
    "select": _json_select,
    "date": _json_date,
    "boolean": _json_boolean,
}
