"""CSV downloads: what a cell becomes, and that a long one never stands in memory as a whole."""

import csv
import io
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from offhook.kit.files.csv_downloads import csv_response, encode_csv, format_cell


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-3, "-3"),
        (2.5, "2.5"),
        (Decimal("-0.125"), "-0.125"),
        (datetime(2026, 1, 2, 5, 4, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T03:04:00+00:00"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ("plain", "plain"),
        ("+12015550100", "+12015550100"),
        ("=1+1", "'=1+1"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-5", "'-5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=b", "a=b"),
        # in Europe semicolons separate cells, and quotes within a cell hold nothing together
        ("a;=1+1;b", "a;'=1+1;b"),
        ('a;" @SUM(A1)', "a;\" '@SUM(A1)"),
        ("a\n=1+1", "a\n'=1+1"),
        (["x;=1"], '["x;\'=1"]'),
        ("a; b - c", "a; b - c"),
        ("a\0b", "ab"),
    ],
)
def test_a_cell(value: Any, text: str) -> None:
    assert format_cell(value) == text


async def rows_of(*rows: list[Any]) -> AsyncIterator[list[Any]]:
    for row in rows:
        yield row


async def test_quotes_commas_and_line_breaks_survive() -> None:
    rows = [['say "hi", twice', "two\nlines"], ["", "\ud800"]]
    whole = b"".join([piece async for piece in encode_csv(["a", "=b"], rows_of(*rows))])
    read = list(csv.reader(io.StringIO(whole.decode(), newline="")))
    assert read == [["a", "'=b"], rows[0], ["", "?"]]


async def test_a_long_one_comes_in_pieces() -> None:
    async def many() -> AsyncIterator[list[Any]]:
        for number in range(20_000):
            yield [number, "x" * 20]

    sizes = [len(piece) async for piece in encode_csv(["number", "text"], many())]
    assert len(sizes) > 5
    assert max(sizes) < 70_000


async def test_an_error_before_the_first_piece_is_raised_at_once() -> None:
    def read_cells() -> list[Any]:
        raise LookupError

    async def broken() -> AsyncIterator[list[Any]]:
        yield read_cells()

    with pytest.raises(LookupError):
        await csv_response("report.csv", ["a"], broken())


async def test_the_answer() -> None:
    answer = await csv_response("Übersicht.csv", ["a"], rows_of([1]))
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''%C3%9Cbersicht.csv"
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
