"""Reads one untrusted contact CSV in its own process with limits: see ``contact_import``.

    contact_reader_program.py SOURCE TARGET WANTED

SOURCE is a path, TARGET the number of an open descriptor. WANTED is a JSON array of the columns required beside ``phone_number``. Prints one JSON object
``{columns, rows, errors: [{row, column, message}], total_errors}`` and, when there are no errors, has written TARGET:
a line for each contact in PostgreSQL's COPY text format, ``row_number<TAB>phone_number<TAB>variables``.

``row`` counts as a spreadsheet does: the header is row 1, blank rows count.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Final, TextIO

from offhook.kit.phone_numbers import is_e164

PHONE: Final = "phone_number"
MAX_COLUMNS: Final = 200
MAX_COLUMN_NAME: Final = 100
MAX_LINE: Final = 1 << 20
MAX_CELL: Final = 16 * 1024
# The limit of a run's context.
MAX_ROW: Final = 60 * 1024
MAX_ROWS: Final = 1_000_000
MAX_ERRORS: Final = 20
_WIDE: Final = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# The replacement for bytes that are not UTF-8.
_UNDECODED: Final = re.compile("[\udc80-\udcff]")
_EMPTY: Final = '""'


class StopReading(Exception):
    """Reading on would only report consequences of this error."""


class UnreadableLine(StopReading):
    """The row that follows is unreadable too."""


class ErrorList:
    """Counts every error and keeps the first ones."""

    def __init__(self) -> None:
        self.first: list[dict[str, Any]] = []
        self.total = 0

    def add(self, row: int | None, column: str | None, message: str) -> None:
        self.total += 1
        if len(self.first) < MAX_ERRORS:
            self.first.append({"row": row, "column": column, "message": message})


class CsvLines:
    """The lines of a file; each may be part of a row whose quoted cells contain line breaks."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE):
            if len(line) == MAX_LINE and not line.endswith("\n"):
                raise UnreadableLine("The line is longer than a million characters. Check that the file is a CSV.")
            if "\0" in line:
                raise UnreadableLine("The file contains NUL bytes. Save it as CSV in UTF-8.")
            if not line.isascii() and _UNDECODED.search(line):
                raise UnreadableLine("The file is not UTF-8. Save it as CSV in UTF-8.")
            yield line


def detect_delimiter(source: Path) -> str:
    """Returns comma or semicolon: the one that gives the first line a ``phone_number`` column, or the more frequent
    one.
    """
    with source.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(MAX_LINE)
        while line and not line.strip():
            line = file.readline(MAX_LINE)
    for delimiter in ",;":
        names = [name.strip(' "\r\n').lower() for name in line.split(delimiter)]
        if PHONE in names and (len(names) > 1 or delimiter not in line):
            return delimiter
    return ";" if line.count(";") > line.count(",") else ","


def read_header(cells: Sequence[str], row: int, wanted: Sequence[str], errors: ErrorList) -> list[str]:
    """Returns the column names. Raises StopReading when no row can be read with them."""
    columns = [cell.strip() for cell in cells]
    while columns and not columns[-1]:
        columns.pop()
    columns = [PHONE if name.lower() == PHONE else name for name in columns]
    if len(columns) > MAX_COLUMNS:
        raise StopReading(f"The file has {len(columns)} columns; the limit is {MAX_COLUMNS}.")
    for number, name in enumerate(columns, 1):
        if not name:
            errors.add(row, None, f"Column {number} has no name.")
        elif len(name) > MAX_COLUMN_NAME:
            errors.add(row, name[:MAX_COLUMN_NAME], f"The name of column {number} is longer than {MAX_COLUMN_NAME}.")
        elif name in columns[: number - 1]:
            errors.add(row, name, f"Two columns are named {name}.")
    if PHONE not in columns:
        errors.add(row, PHONE, "The file has no phone_number column.")
    for name in wanted:
        if name not in columns:
            errors.add(row, name, f"The workflow uses {{{{{name}}}}}, but the file has no such column.")
    if errors.total:
        raise StopReading
    return columns


class ContactWriter:
    """Checks rows and writes the valid ones."""

    def __init__(self, columns: Sequence[str], target: TextIO, errors: ErrorList) -> None:
        self._columns = columns
        self._phone = columns.index(PHONE)
        self._keys = [(index, encode_basestring(name)) for index, name in enumerate(columns) if name != PHONE]
        self._target = target
        self._errors = errors
        self._seen: dict[int, int] = {}
        self.count = 0

    def add_row(self, row: int, cells: list[str]) -> None:
        if not any(cell.strip() for cell in cells):
            return
        if self.count >= MAX_ROWS:
            raise StopReading(f"Contact files are limited to {MAX_ROWS} contacts.")
        self.count += 1
        if any(cell.strip() for cell in cells[len(self._columns) :]):
            self._errors.add(
                row, None, f"The row has {len(cells)} cells, but the header has {len(self._columns)} columns."
            )
            return
        phone = cells[self._phone].strip() if len(cells) > self._phone else ""
        if self._is_valid_phone(row, phone):
            self._write_row(row, phone, cells)

    def _is_valid_phone(self, row: int, phone: str) -> bool:
        if not phone:
            self._errors.add(row, PHONE, "The phone number is missing.")
        elif not is_e164(phone):
            self._errors.add(row, PHONE, f"{phone[:40]} is not a phone number in E.164 form, as +12015550101.")
        else:
            first = self._seen.setdefault(int(phone), row)
            if first == row:
                return True
            self._errors.add(row, PHONE, f"{phone} is in row {first} already.")
        return False

    def _write_row(self, row: int, phone: str, cells: list[str]) -> None:
        there = len(cells)
        encoded = ",".join(
            [f"{key}:{encode_basestring(cells[index]) if index < there else _EMPTY}" for index, key in self._keys]
        )
        if len(encoded) > MAX_ROW:
            self._errors.add(row, None, f"Rows are limited to {MAX_ROW} characters.")
        elif not self._errors.total:
            # JSON has no raw control characters, so a backslash is the only character that COPY would misread.
            encoded = encoded.replace("\\", "\\\\")
            self._target.write(f"{row}\t{phone}\t{{{encoded}}}\n")


def read_contacts(source: Path, target: Path | int, wanted: Sequence[str]) -> dict[str, Any]:
    """Reads ``source``, writes ``target`` and returns the report for printing."""
    errors, columns, row, count = ErrorList(), list[str](), 0, 0
    contacts: ContactWriter | None = None
    with (
        source.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file,
        open(target, "w", encoding="utf-8", newline="") as out,  # noqa: PTH123 - a descriptor too
    ):
        try:
            for row, cells in enumerate(_read_rows(source, file), 1):
                if contacts is not None:
                    contacts.add_row(row, cells)
                elif any(cell.strip() for cell in cells):
                    columns = read_header(cells, row, wanted, errors)
                    contacts = ContactWriter(columns, out, errors)
        except csv.Error as error:
            errors.add(row + 1, None, _explained(error))
        except StopReading as stop:
            if stop.args:
                errors.add(row + isinstance(stop, UnreadableLine), None, str(stop))
        else:
            if contacts is None:
                errors.add(1, None, "The file is empty. It needs a header row and contacts.")
            elif not contacts.count:
                errors.add(row, None, "The file has a header but no contacts.")
    if contacts is not None:
        count = contacts.count
    return {"columns": columns, "rows": count, "errors": errors.first, "total_errors": errors.total}


def _read_rows(source: Path, file: TextIO) -> Iterator[list[str]]:
    with source.open("rb") as raw:
        start = raw.read(4)
    if start[:2] in _WIDE:
        raise UnreadableLine("The file is UTF-16. Save it as CSV in UTF-8.")
    return csv.reader(CsvLines(file), delimiter=detect_delimiter(source), strict=True)


def _explained(error: csv.Error) -> str:
    if "field larger" in str(error):
        return f"Cells are limited to {MAX_CELL} characters. Check for a quotation mark that is not closed."
    return "The quotation marks of this row do not match."


def main() -> None:
    csv.field_size_limit(MAX_CELL)
    source, target, wanted = sys.argv[1:4]
    print(json.dumps(read_contacts(Path(source), int(target), json.loads(wanted))))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
