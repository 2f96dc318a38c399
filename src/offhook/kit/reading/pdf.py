"""Reads PDF: the text of every page, headings by font size, without text that repeats on every page."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from offhook.kit.reading.blocks import MAX_CHARACTERS, NO_TEXT, TOO_LONG, DocumentBlock, FileUnreadable

MAX_PAGES: Final = 2_000
ENCRYPTED: Final = "The PDF is protected by a password: save it without one."
BROKEN: Final = "The PDF is damaged: open it in a viewer and save it again."
SCANNED: Final = "The PDF holds pictures of pages and no text: run text recognition (OCR) on it first."
# Letters this much larger than most of the text, in a line this short, are a heading.
_MIN_HEADING_RATIO: Final = 1.15
_HEADING_LENGTH: Final = 120
# Lines at the edge of this share of the pages are headers and footers.
_MIN_REPEATED_SHARE: Final = 0.6
_MIN_PAGES_FOR_EDGES: Final = 4
_Line = tuple[str, float]


def read_pdf(path: Path) -> Iterator[DocumentBlock]:
    """Yields the blocks of a file. Raises FileUnreadable."""
    try:
        document = pypdfium2.PdfDocument(path.read_bytes())
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        protected = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise FileUnreadable(ENCRYPTED if code in protected or "password" in str(error).lower() else BROKEN) from error
    try:
        yield from _read_blocks(document)
    finally:
        document.close()


def _read_blocks(document: Any) -> Iterator[DocumentBlock]:
    count = len(document)
    if count > MAX_PAGES:
        raise FileUnreadable(f"The PDF has {count} pages; the limit is {MAX_PAGES}. Split it.")
    pages = list(_read_pages(document, count))
    if not any(pages):
        raise FileUnreadable(SCANNED if count else NO_TEXT)
    repeated = _repeated_edges(pages)
    sizes: Counter[float] = Counter()
    for text, size in chain.from_iterable(pages):
        sizes[size] += len(text)
    usual = sizes.most_common(1)[0][0]
    for number, lines in enumerate(pages, 1):
        paragraph: list[str] = []
        for at, (text, size) in enumerate(lines):
            if at in (0, len(lines) - 1) and _line_shape(text) in repeated:
                continue
            if size > usual * _MIN_HEADING_RATIO and len(text) <= _HEADING_LENGTH and re.search(r"[^\W\d_]", text):
                yield from _paragraph_block(paragraph, number)
                level = 1 if size > usual * 1.6 else 2 if size > usual * 1.3 else 3
                yield DocumentBlock("heading", text, number, level)
            else:
                paragraph.append(text)
        yield from _paragraph_block(paragraph, number)


def _paragraph_block(lines: list[str], page: int) -> Iterator[DocumentBlock]:
    if lines:
        yield DocumentBlock("text", "\n".join(lines), page)
    lines.clear()


def _read_pages(document: Any, count: int) -> Iterator[list[_Line]]:
    characters = 0
    for index in range(count):
        try:
            page = document[index]
        except pypdfium2.PdfiumError:  # a page that the file's page table lists but that does not exist
            yield []
            continue
        try:
            lines = list(_read_lines(page.get_textpage()))
        finally:
            page.close()
        characters += sum(len(text) for text, _ in lines)
        if characters > MAX_CHARACTERS:
            raise FileUnreadable(TOO_LONG)
        yield lines


def _read_lines(page: Any) -> Iterator[_Line]:
    """Yields the lines of a page with the size of their first letter, in points as shown."""
    length = page.count_chars()
    if length <= 0:
        return
    at = 0
    for raw in page.get_text_range(0, length, errors="replace").split("\n"):
        text = raw.rstrip("\r").replace("\x02", "-").replace("\ufffe", "-")
        lead = len(text) - len(text.lstrip())
        if text.strip():
            yield re.sub(r"[\x00-\x08\x0b-\x1f]", "", text).strip(), _letter_height(page, at + lead)
        at += len(raw) + 1


def _letter_height(page: Any, index: int) -> float:
    """Returns the height of a letter; fonts are scaled by matrices, so the font size alone is not enough."""
    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(page.raw, index))
    if pdfium.FPDFText_GetMatrix(page.raw, index, ctypes.byref(matrix)):
        scale = (matrix.c**2 + matrix.d**2) ** 0.5
        size *= scale or 1.0
    return round(size, 1)


def _repeated_edges(pages: list[list[_Line]]) -> set[str]:
    """Returns the headers and footers of a document, without their numbers."""
    if len(pages) < _MIN_PAGES_FOR_EDGES:
        return set()
    edges = Counter(
        shape for lines in pages if lines for shape in {_line_shape(lines[0][0]), _line_shape(lines[-1][0])}
    )
    return {shape for shape, times in edges.items() if times >= _MIN_REPEATED_SHARE * len(pages)}


def _line_shape(text: str) -> str:
    return re.sub(r"\d+", "#", text.strip())
