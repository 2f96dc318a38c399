"""PDF: the text of every page, headings by the size of their letters, what every page repeats left out."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from offhook.kit.reading.blocks import MAX_CHARACTERS, NO_TEXT, TOO_LONG, Block, Unreadable

MAX_PAGES: Final = 2_000
ENCRYPTED: Final = "The PDF is protected by a password: save it without one."
BROKEN: Final = "The PDF is damaged: open it in a viewer and save it again."
SCANNED: Final = "The PDF holds pictures of pages and no text: run text recognition (OCR) on it first."
# Letters this much larger than most of the text, in a line this short, are a heading.
_LARGER: Final = 1.15
_HEADING_LENGTH: Final = 120
# Lines at the edge of this share of the pages are headers and footers.
_REPEATED: Final = 0.6
_FEW_PAGES: Final = 4
_Line = tuple[str, float]


def read_pdf(path: Path) -> Iterator[Block]:
    """Unreadable."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        protected = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable(ENCRYPTED if code in protected or "password" in str(error).lower() else BROKEN) from error
    try:
        yield from _blocks(document)
    finally:
        document.close()


def _blocks(document: Any) -> Iterator[Block]:
    count = len(document)
    if count > MAX_PAGES:
        raise Unreadable(f"The PDF has {count} pages: at most {MAX_PAGES} are read. Split it.")
    pages = list(_pages(document, count))
    if not any(pages):
        raise Unreadable(SCANNED if count else NO_TEXT)
    repeated = _repeated(pages)
    usual = _usual_size(pages)
    for number, lines in enumerate(pages, 1):
        paragraph: list[str] = []
        for at, (text, size) in enumerate(lines):
            if at in (0, len(lines) - 1) and _shape(text) in repeated:
                continue
            if size > usual * _LARGER and len(text) <= _HEADING_LENGTH and re.search(r"[^\W\d_]", text):
                yield from _text(paragraph, number)
                level = 1 if size > usual * 1.6 else 2 if size > usual * 1.3 else 3
                yield Block("heading", text, number, level)
            else:
                paragraph.append(text)
        yield from _text(paragraph, number)


def _text(lines: list[str], page: int) -> Iterator[Block]:
    if lines:
        yield Block("text", "\n".join(lines), page)
    lines.clear()


def _pages(document: Any, count: int) -> Iterator[list[_Line]]:
    characters = 0
    for index in range(count):
        try:
            page = document[index]
        except pypdfium2.PdfiumError:  # a page that the file's own table names and does not hold
            yield []
            continue
        try:
            lines = list(_lines(page.get_textpage()))
        finally:
            page.close()
        characters += sum(len(text) for text, _ in lines)
        if characters > MAX_CHARACTERS:
            raise Unreadable(TOO_LONG)
        yield lines


def _lines(page: Any) -> Iterator[_Line]:
    """The lines of a page with the size of their first letter, in points as the reader sees them."""
    length = page.count_chars()
    if length <= 0:
        return
    at = 0
    for raw in page.get_text_range(0, length, errors="replace").split("\n"):
        text = raw.rstrip("\r").replace("\x02", "-").replace("\ufffe", "-")
        lead = len(text) - len(text.lstrip())
        if text.strip():
            yield re.sub(r"[\x00-\x08\x0b-\x1f]", "", text).strip(), _size(page, at + lead)
        at += len(raw) + 1


def _size(page: Any, index: int) -> float:
    """The height of a letter: fonts are scaled by matrices, so that their own size says little."""
    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(page.raw, index))
    if pdfium.FPDFText_GetMatrix(page.raw, index, ctypes.byref(matrix)):
        scale = (matrix.c**2 + matrix.d**2) ** 0.5
        size *= scale or 1.0
    return round(size, 1)


def _usual_size(pages: list[list[_Line]]) -> float:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for text, size in lines:
            sizes[size] += len(text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _repeated(pages: list[list[_Line]]) -> set[str]:
    """The headers and footers of a document, without their numbers."""
    if len(pages) < _FEW_PAGES:
        return set()
    edges = Counter(shape for lines in pages if lines for shape in {_shape(lines[0][0]), _shape(lines[-1][0])})
    return {shape for shape, times in edges.items() if times >= _REPEATED * len(pages)}


def _shape(text: str) -> str:
    return re.sub(r"\d+", "#", text.strip())
