"""Reading contact files: what is taken, and what every bad one is answered."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from offhook.campaigns.errors import ContactsInvalid
from offhook.campaigns.intake import contact_import
from offhook.campaigns.intake.contact_import import ContactReader
from offhook.campaigns.intake.contact_reader_program import MAX_COLUMNS, MAX_ERRORS, read_contacts
from tests.campaigns.desk import Desk, contact_file, numbers
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION
from tests.workflows.conftest import Editor

ONE, TWO = numbers(2)


async def contacts(desk: Desk, content: bytes) -> list[tuple[int, str, dict[str, Any]]]:
    campaign = await desk.made(content)
    listed = await desk.get(f"/{campaign['id']}/contacts")
    assert campaign["progress"]["total_contacts"] == listed["total_count"]
    return [(item["row_number"], item["phone_number"], item["variables"]) for item in listed["contacts"]]


GOOD = {
    "commas": f"phone_number,name\n{ONE},Ann\n{TWO},Bo\n".encode(),
    "a byte order mark": f"phone_number,name\n{ONE},Ann\n{TWO},Bo\n".encode("utf-8-sig"),
    "semicolons": f"phone_number;name\n{ONE};Ann\n{TWO};Bo\n".encode(),
    "windows line ends": f"phone_number,name\r\n{ONE},Ann\r\n{TWO},Bo\r\n".encode(),
    "no line end at the end": f"phone_number,name\n{ONE},Ann\n{TWO},Bo".encode(),
    "another order and case": f"name, Phone_Number \nAnn,{ONE}\nBo, {TWO} \n".encode(),
    "empty columns at the end": f"phone_number,name,,\n{ONE},Ann,,\n{TWO},Bo,,\n".encode(),
}


@pytest.mark.slow
async def test_ways_to_write_the_same(desk: Desk) -> None:
    for kind, content in GOOD.items():
        assert await contacts(desk, content) == [(2, ONE, {"name": "Ann"}), (3, TWO, {"name": "Bo"})], kind


async def test_cells_are_data_whatever_is_in_them(desk: Desk) -> None:
    note = 'two\nlines, a "quote", a \\ and a \ttab'
    quoted = note.replace('"', '""')
    content = f'phone_number,note,formula\n{ONE},"{quoted}",=1+1\n\n{TWO},short\n'.encode()
    assert await contacts(desk, content) == [
        (2, ONE, {"note": note, "formula": "=1+1"}),
        (4, TWO, {"note": "short", "formula": ""}),
    ]


BAD: dict[str, tuple[bytes, list[tuple[int, str | None, str]]]] = {
    "empty": (b"", [(1, None, "empty")]),
    "blank lines only": (b"\n\n\n", [(1, None, "empty")]),
    "header only": (b"phone_number,name\n", [(1, None, "no contacts")]),
    "no phone column": (b"phone,name\n+14152000000,Ann\n", [(1, "phone_number", "no phone_number column")]),
    "latin-1": (f"phone_number,name\n{ONE},Jos\xe9\n".encode("latin-1"), [(2, None, "UTF-8")]),
    "utf-16": (f"phone_number,name\n{ONE},Ann\n".encode("utf-16"), [(1, None, "UTF-16")]),
    "utf-16 without a mark": (f"phone_number,name\n{ONE},Ann\n".encode("utf-16-le"), [(1, None, "NUL")]),
    "nul bytes": (f"phone_number,name\n{ONE},A\0nn\n".encode(), [(2, None, "NUL")]),
    "a thousand columns": (
        (",".join(["phone_number", *(f"c{n}" for n in range(999))]) + f"\n{ONE}\n").encode(),
        [(1, None, f"1000 columns; the limit is {MAX_COLUMNS}")],
    ),
    "two columns of one name": (f"phone_number,a,a\n{ONE},1,2\n".encode(), [(1, "a", "Two columns")]),
    "a column without a name": (f"phone_number,,a\n{ONE},1,2\n".encode(), [(1, None, "Column 2 has no name")]),
    "more cells than columns": (f"phone_number,a\n{ONE},1,2\n".encode(), [(2, None, "3 cells")]),
    "not e.164": (
        b"phone_number\n4152000000\n+1 415 200 0001\n+999123\ncall me\n",
        [(row, "phone_number", "E.164") for row in (2, 3, 4, 5)],
    ),
    "no number": (f"phone_number,name\n,Ann\n{ONE},Bo\n".encode(), [(2, "phone_number", "missing")]),
    "a duplicate": (f"phone_number\n{ONE}\n{TWO}\n{ONE}\n".encode(), [(4, "phone_number", "row 2 already")]),
    "an open quotation mark": (f'phone_number,a\n{ONE},"b\n{TWO},c\n'.encode(), [(2, None, "quotation")]),
    "an endless cell": (f'phone_number,a\n{ONE},"{"x" * 20_000}"\n'.encode(), [(2, None, "16384")]),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00", [(1, None, "UTF-8")]),
}


@pytest.mark.slow
async def test_bad_files_and_their_answers(desk: Desk) -> None:
    for kind, (content, expected) in BAD.items():
        answer = await desk.create(content)
        assert (answer.status_code, answer.json()["code"]) == (422, "contacts_invalid"), kind
        detail = answer.json()["detail"]
        assert detail["total_errors"] == len(expected), kind
        for error, (row, column, words) in zip(detail["errors"], expected, strict=True):
            assert (error["row"], error["column"]) == (row, column), kind
            assert words in error["message"], kind
    assert await desk.get("/") == []


@pytest.mark.slow
async def test_twenty_errors_are_listed_and_all_are_counted(desk: Desk) -> None:
    rows = "\n".join(f"nobody {number}" for number in range(500))
    detail = (await desk.create(f"phone_number\n{rows}\n".encode())).json()["detail"]
    assert (len(detail["errors"]), detail["total_errors"]) == (MAX_ERRORS, 500)


async def test_a_variable_of_the_workflow_needs_its_column(desk: Desk, editor: Editor, org: OrgFixture) -> None:
    greeting = "Hello {{ first_name }} of {{ city | your town }}, {{initial_context.order.id}} {{ current_time }}."
    nodes = [{**node, "data": {**node["data"]}} for node in DEFINITION["nodes"]]
    nodes[0]["data"]["greeting"] = greeting
    workflow_id = await editor.create_published({**DEFINITION, "nodes": nodes})
    answer = await desk.create(contact_file(), workflow_id=workflow_id)
    errors = answer.json()["detail"]["errors"]
    assert [(error["row"], error["column"]) for error in errors] == [(1, "first_name"), (1, "order")]
    fine = f"phone_number,first_name,order\n{ONE},Ann,7\n".encode()
    assert (await desk.create(fine, workflow_id=workflow_id)).status_code == 200


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "source.csv", tmp_path / "lines"


def test_nothing_is_written_of_a_file_with_errors(places: tuple[Path, Path]) -> None:
    source, lines = places
    source.write_text(f"phone_number\nnobody\n{ONE}\n")
    assert read_contacts(source, lines, [])["total_errors"] == 1
    assert lines.read_text() == ""


def test_lines_are_what_postgresql_copies(places: tuple[Path, Path]) -> None:
    source, lines = places
    source.write_text(f'phone_number,note\n{ONE},"a\nb\\c"\n')
    assert read_contacts(source, lines, [])["rows"] == 1
    assert lines.read_text() == f'2\t{ONE}\t{{"note":"a\\\\nb\\\\\\\\c"}}\n'


async def test_the_answer_for_the_widest_file_is_read_whole(places: tuple[Path, Path]) -> None:
    source, lines = places
    columns = ["phone_number", *(f"{number:03}" + "é" * 97 for number in range(MAX_COLUMNS - 1))]
    source.write_text(",".join(columns) + f"\n{ONE}\n")
    assert (await ContactReader().check_file(1, source, lines, [])).columns == tuple(columns)


@pytest.mark.parametrize("limit", [{"memory_bytes": 1 << 20}, {"file_bytes": 100}, {"timeout_s": 0.01}])
async def test_a_file_that_is_too_hard_to_read_is_refused(places: tuple[Path, Path], limit: dict[str, Any]) -> None:
    source, lines = places
    source.write_text("phone_number\n" + "\n".join(numbers(2000)) + "\n")
    with pytest.raises(ContactsInvalid) as refused:
        await ContactReader(replace(contact_import.LIMITS, **limit)).check_file(1, source, lines, [])
    assert "The file could not be read." in str(refused.value)
