"""Filters: what they find in PostgreSQL, and that nothing a client sends gets further than a 422."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    make_url,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from offhook.kit.database.database import Database
from offhook.kit.filters.criteria import TYPES, FilterField, FilterInvalid, parse_filters, parse_sort

CALLS = Table(
    "filtered_calls",
    MetaData(),
    Column("id", BigInteger, primary_key=True),
    Column("workflow_id", Integer),
    Column("status", String),
    Column("duration", Numeric(10, 3)),
    Column("is_test", Boolean),
    Column("created_at", DateTime(timezone=True)),
    Column("context", JSONB),
)
FIELDS = {
    "id": FilterField.for_column(CALLS.c.id, "number", "select"),
    "workflow_id": FilterField.for_column(CALLS.c.workflow_id, "number", "select"),
    "status": FilterField.for_column(CALLS.c.status, "text", "select"),
    "duration": FilterField.for_column(CALLS.c.duration, "number"),
    "is_test": FilterField.for_column(CALLS.c.is_test, "boolean"),
    "created_at": FilterField.for_column(CALLS.c.created_at, "date"),
    "context.*": FilterField.for_column(CALLS.c.context, *TYPES),
}
ROWS: list[dict[str, Any]] = [
    {"id": 1, "workflow_id": 7, "status": "completed", "duration": "12.5", "is_test": False,
     "created_at": datetime(2030, 1, 1, 10, tzinfo=UTC),
     "context": {"city": "Paris", "age": "42", "vip": True, "due": "2030-05-01", "a.b": "dot"}},
    {"id": 2, "workflow_id": 7, "status": "no_answer", "duration": None, "is_test": True,
     "created_at": datetime(2030, 1, 2, 0, tzinfo=UTC),
     "context": {"city": "50% off_", "age": 41.5, "vip": "FALSE", "due": "2030-02-31T10:00:00"}},
    {"id": 2**40, "workflow_id": None, "status": "busy", "duration": "0", "is_test": False,
     "created_at": datetime(2030, 1, 3, 23, 59, tzinfo=UTC),
     "context": {"city": None, "age": "many", "vip": [], "due": "soon"}},
]  # fmt: skip
A, B, C = (row["id"] for row in ROWS)


@pytest.fixture
async def database(database_url: str) -> Any:
    db = Database(database_url)
    async with db.engine.begin() as connection:
        await connection.run_sync(CALLS.metadata.create_all)
        await connection.execute(CALLS.insert(), [row | {"duration": _decimal(row["duration"])} for row in ROWS])
    yield db
    await db.dispose()


def _decimal(text: str | None) -> Any:
    return None if text is None else float(text)


async def find(database: Database, *criteria: dict[str, Any]) -> list[int]:
    conditions = parse_filters(json.dumps(criteria), FIELDS)
    async with database.transaction() as session:
        return list(await session.scalars(select(CALLS.c.id).where(*conditions).order_by(CALLS.c.id)))


def criterion(field: str, kind: str, value: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, "value": value}


FINDS = [
    ("id", "number", 1, [A]),
    ("id", "number", 1.0, [A]),
    ("id", "number", 1.5, []),
    ("id", "number", {"min": 2}, [B, C]),
    ("id", "number", {"min": 1.5, "max": 2.5}, [B]),
    ("id", "number", {"max": -(10**30)}, []),
    ("id", "number", {"min": -(10**30), "max": 10**30}, [A, B, C]),
    ("id", "number", 10**18 * 10**18, []),
    ("workflow_id", "number", {"min": 0}, [A, B]),
    ("workflow_id", "number", {"min": 5, "max": 4}, []),
    ("workflow_id", "select", 7, [A, B]),
    ("workflow_id", "select", ["7", 8, 10**12], [A, B]),
    ("duration", "number", 12.5, [A]),
    ("duration", "number", {"min": 0, "max": 1e300}, [A, C]),
    ("duration", "number", {"max": 12}, [C]),
    ("status", "text", "COMP", [A]),
    ("status", "text", "_", [B]),
    ("status", "text", "%", []),
    ("status", "text", "\\", []),
    ("status", "select", "busy", [C]),
    ("status", "select", ["busy", "completed", 5], [A, C]),
    ("status", "select", [], []),
    ("is_test", "boolean", True, [B]),
    ("is_test", "boolean", False, [A, C]),
    ("created_at", "date", {"from": "2030-01-02"}, [B, C]),
    ("created_at", "date", {"to": "2030-01-01"}, [A]),
    ("created_at", "date", {"to": "2030-01-02T00:00:00Z"}, [A, B]),
    ("created_at", "date", {"from": "2030-01-03", "to": "2030-01-03"}, [C]),
    ("created_at", "date", {"from": "2030-01-01T12:00:00+02:00", "to": "2030-01-01T10:00:00"}, [A]),
    ("created_at", "date", {"from": "0001-01-01", "to": "9999-12-30"}, [A, B, C]),
    ("context.city", "text", "par", [A]),
    ("context.city", "text", "% off_", [B]),
    ("context.city", "select", ["Paris"], [A]),
    ("context.a.b", "select", "dot", [A]),
    ("context.age", "number", {"min": 41}, [A, B]),
    ("context.age", "number", 42, [A]),
    ("context.vip", "boolean", True, [A]),
    ("context.vip", "boolean", False, [B]),
    ("context.vip", "select", True, [A]),
    ("context.due", "date", {"from": "2030-03-01"}, [A]),
    ("context.due", "date", {"to": "2030-03-01"}, [B]),
    ("context.nobody", "text", "x", []),
    ("context.'; drop table filtered_calls --", "text", "x", []),
]


class TestFinds:
    @pytest.mark.parametrize("raw", [None, "", "  ", "[]"])
    def test_nothing(self, raw: str | None) -> None:
        assert parse_filters(raw, FIELDS) == []

    async def test_each_type(self, database: Database) -> None:
        found = [await find(database, criterion(field, kind, value)) for field, kind, value, _ in FINDS]
        assert found == [expected for *_, expected in FINDS]

    async def test_and(self, database: Database) -> None:
        both = [criterion("workflow_id", "number", 7), criterion("is_test", "boolean", False)]
        assert await find(database, *both) == [A]

    async def test_attribute_is_another_name(self, database: Database) -> None:
        assert await find(database, {"attribute": "status", "type": "select", "value": "busy"}) == [C]

    async def test_sort(self, database: Database) -> None:
        columns = {"duration": CALLS.c.duration, "id": CALLS.c.id}
        for order, expected in (("asc", [C, A, B]), ("desc", [A, C, B]), (None, [A, C, B])):
            by = parse_sort("duration", order, columns, default="id", tie_break=CALLS.c.id)
            async with database.transaction() as session:
                assert list(await session.scalars(select(CALLS.c.id).order_by(*by))) == expected


class TestRefuses:
    @pytest.mark.parametrize(
        "raw",
        ["{", "{}", '"x"', "1", "null", "[1]", '["a"]', "[[]]", "[NaN]", "[" * 5000, "[" * 100_000, "[" + "1" * 5000 + "]",
         "x" * 30_000, json.dumps([{}] * 51)],
    )  # fmt: skip
    def test_not_an_array_of_criteria(self, raw: str) -> None:
        with pytest.raises(FilterInvalid) as refused:
            parse_filters(raw, FIELDS)
        assert refused.value.status == 422
        assert refused.value.detail[0]["loc"][:2] == ["query", "filters"]

    @pytest.mark.parametrize("field", ["secret", "", None, 5, [], "context", "context.", "context.\0", "x.y"])
    def test_unknown_field_is_named(self, field: Any) -> None:
        with pytest.raises(FilterInvalid) as refused:
            parse_filters(json.dumps([{"field": field, "type": "text", "value": "x"}]), FIELDS)
        problem = refused.value.detail[0]
        assert problem["loc"] == ["query", "filters", 0, "field"]
        assert ascii(field) in problem["msg"]
        assert "context.<name>" in problem["msg"]

    @pytest.mark.parametrize("kind", ["regex", "", None, 5, ["text"], {}])
    def test_unknown_type_is_named(self, kind: Any) -> None:
        with pytest.raises(FilterInvalid) as refused:
            parse_filters(json.dumps([{"field": "status", "type": kind, "value": "x"}]), FIELDS)
        assert refused.value.detail[0]["loc"] == ["query", "filters", 0, "type"]
        assert ascii(kind) in refused.value.message

    def test_type_that_the_field_does_not_have(self) -> None:
        with pytest.raises(FilterInvalid, match="'duration' cannot be filtered by type 'text': use number"):
            parse_filters(json.dumps([criterion("duration", "text", "x")]), FIELDS)

    @pytest.mark.parametrize(
        ("field", "kind", "value"),
        [
            ("id", "number", "1"), ("id", "number", None), ("id", "number", True), ("id", "number", {}),
            ("id", "number", 10**400), ("duration", "number", {"min": -(10**400)}),
            ("id", "number", {"min": "1"}), ("id", "number", {"low": 1}), ("id", "number", []),
            ("id", "select", ["one"]), ("id", "select", [1.5]), ("id", "select", None), ("id", "select", [[1]]),
            ("id", "select", list(range(501))), ("status", "select", {"a": 1}), ("status", "select", "a\0"),
            ("status", "text", ""), ("status", "text", 5), ("status", "text", "a\0b"), ("status", "text", "\ud800"),
            ("status", "text", "x" * 1001), ("is_test", "boolean", "true"), ("is_test", "boolean", 1),
            ("created_at", "date", "2030-01-01"), ("created_at", "date", {}), ("created_at", "date", {"from": 5}),
            ("created_at", "date", {"from": "yesterday"}), ("created_at", "date", {"to": "2030-02-30"}),
            ("created_at", "date", {"since": "2030-01-01"}), ("created_at", "date", {"to": "9999-12-31"}),
            ("created_at", "date", {"from": "0001-01-01T00:00:00+14:00"}),
        ],
    )  # fmt: skip
    def test_bad_value(self, field: str, kind: str, value: Any) -> None:
        with pytest.raises(FilterInvalid) as refused:
            parse_filters(json.dumps([criterion(field, kind, value)]), FIELDS)
        assert refused.value.detail[0]["loc"] == ["query", "filters", 0, "value"]

    def test_infinity(self) -> None:
        with pytest.raises(FilterInvalid):
            parse_filters('[{"field":"duration","type":"number","value":1e999}]', FIELDS)

    def test_unknown_sort(self) -> None:
        with pytest.raises(FilterInvalid, match="Unknown sort key 'secret': use one of id"):
            parse_sort("secret", "asc", {"id": CALLS.c.id}, default="id", tie_break=CALLS.c.id)
        with pytest.raises(FilterInvalid, match="Unknown sort order 'up'"):
            parse_sort("id", "up", {"id": CALLS.c.id}, default="id", tie_break=CALLS.c.id)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["2030-01-01", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["min", "max", "from", "to"]), inner),
    max_leaves=6,
)
CRITERIA = st.lists(
    st.fixed_dictionaries(
        {
            "field": st.sampled_from([*FIELDS, "context.age", "context.\u00e9"]),
            "type": st.sampled_from([*TYPES]),
            "value": JSON,
        }
    ),
    max_size=3,
)


class TestAnything:
    dialect = make_url("postgresql+asyncpg://").get_dialect()()

    @given(st.text())
    def test_any_text_is_conditions_or_422(self, raw: str) -> None:
        self._parse(raw)

    @given(CRITERIA)
    def test_any_criteria_are_conditions_or_422(self, criteria: Any) -> None:
        self._parse(json.dumps(criteria))

    @classmethod
    def _parse(cls, raw: str) -> None:
        with suppress(FilterInvalid):
            conditions = parse_filters(raw, FIELDS)
            assert str(select(CALLS.c.id).where(*conditions).compile(dialect=cls.dialect))

    async def test_whatever_is_accepted_postgresql_accepts(self, database: Database) -> None:
        values: list[Any] = [
            0, -1, 1.5, 2**31, 2**63, 10**40, 1e308, 5e-324, {"min": -1e308}, {"max": 5e-324}, "x", "%_\\'\"", "\u00e9\U0001f600",
            [], [1], ["a", 1, 2.5, True], True, {"from": "0001-01-01"}, {"to": "9999-12-30T23:59:59.999999-12:00"},
            {"from": "2030-W01"}, {"from": "20300101T10"},
        ]  # fmt: skip
        accepted = 0
        for field in [*FIELDS, "context.city", "context.age", "context.due"]:
            for kind in TYPES:
                for value in values:
                    try:
                        parse_filters(json.dumps([criterion(field, kind, value)]), FIELDS)
                    except FilterInvalid:
                        continue
                    await find(database, criterion(field, kind, value))
                    accepted += 1
        assert accepted > 100
