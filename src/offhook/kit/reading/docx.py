"""Reads Word documents: headings by style, lists, and tables in place."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import docx
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from docx.table import Table
from lxml.etree import XMLSyntaxError

from offhook.kit.reading.blocks import DocumentBlock, FileUnreadable, join_cells

ENCRYPTED: Final = "The document is protected by a password: save it without one."
BROKEN: Final = "The document is damaged: open it in a word processor and save it again."
# All parts, unpacked. A picture-heavy manual has 100 MB; a bomb has gigabytes.
MAX_UNPACKED_BYTES: Final = 400 << 20
# One XML part, unpacked, which becomes a tree of ten times its size.
MAX_PART_BYTES: Final = 60 << 20
MAX_PARTS: Final = 20_000


def read_docx(path: Path) -> Iterator[DocumentBlock]:
    """Yields the blocks of a document. Raises FileUnreadable."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            raise FileUnreadable(ENCRYPTED if file.read(4) == b"\xd0\xcf\x11\xe0" else BROKEN)
    try:
        _check_archive(path)
        document = docx.Document(str(path))
        yield from _read_blocks(document)
    except (BadZipFile, OpcError, XMLSyntaxError, KeyError, ValueError, AttributeError, zipfile.LargeZipFile) as error:
        raise FileUnreadable(BROKEN) from error


def _check_archive(path: Path) -> None:
    with ZipFile(path) as archive:
        parts = archive.infolist()
        if any(part.flag_bits & 1 for part in parts):
            raise FileUnreadable(ENCRYPTED)
        xml = max((part.file_size for part in parts if part.filename.endswith((".xml", ".rels"))), default=0)
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES or xml > MAX_PART_BYTES:
            raise FileUnreadable("The document is too large when unpacked.")


def _read_blocks(document: Any) -> Iterator[DocumentBlock]:
    for item in document.iter_inner_content():
        if isinstance(item, Table):
            yield DocumentBlock("table", "\n".join(_table_rows(item)))
            continue
        text = item.text.strip()
        level = _heading_level(item)
        if level:
            yield DocumentBlock("heading", " ".join(text.split()), level=level)
        else:
            properties = item._p.pPr  # noqa: SLF001 - the library's own way to the element
            is_listed = properties is not None and properties.find(qn("w:numPr")) is not None
            yield DocumentBlock("text", f"- {text}" if text and is_listed else text)


def _heading_level(paragraph: Any) -> int:
    """Returns 1 to 9 for a heading, 0 for anything else."""
    name = (paragraph.style.name or "").lower() if paragraph.style is not None else ""
    if name == "title":
        return 1
    head, _, number = name.rpartition(" ")
    return int(number) if head == "heading" and number.isdecimal() else 0


def _table_rows(table: Table) -> Iterator[str]:
    for line in table.rows:
        cells: list[str] = []
        before = None
        for cell in line.cells:
            if cell._tc is before:  # noqa: SLF001 - a merged cell is met once for each column that it covers
                continue
            before = cell._tc  # noqa: SLF001
            cells.append(cell.text)
        text = join_cells(cells)
        if text.strip(" |"):
            yield text
