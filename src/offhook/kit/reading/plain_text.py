"""Reads plain text, Markdown and CSV: detects the encoding, keeps headings and tables."""

import codecs
import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from charset_normalizer import from_bytes

from offhook.kit.reading.blocks import MAX_CHARACTERS, TOO_LONG, DocumentBlock, FileUnreadable, join_cells

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Only this much of the beginning is used for detection: it is slow, and an encoding does not change within a file.
_SAMPLE: Final = 65_536
_SHORT: Final = 1_000
# Encodings that programs actually save text in; detection among all encodings finds obsolete mainframe ones.
_LIKELY: Final = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("koi8_r", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "mac_roman"),
)
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_UNDERLINE: Final = re.compile(r"^(=+|-{3,})\s*$")
_TABLE_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_DELIMITERS: Final = ",;\t|"


def decode_text(raw: bytes) -> str:
    """Returns the text of a file in any encoding. Raises FileUnreadable."""
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    zeros = raw[:_SAMPLE].count(0)
    if encoding is None and zeros:
        encoding = "utf-16-be" if raw[:_SAMPLE:2].count(0) > zeros // 2 else "utf-16-le"
    try:
        text = raw.decode("utf-8") if encoding is None else raw.decode(encoding, "replace")
    except UnicodeDecodeError:
        text = raw.decode(_guess_encoding(raw[:_SAMPLE]), "replace")
    if len(text) > 4 * MAX_CHARACTERS:
        raise FileUnreadable(TOO_LONG)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[\x00-\x08\x0b\x0e-\x1f\ufeff]", "", text)


def _guess_encoding(sample: bytes) -> str:
    """Returns the encoding of text that is not Unicode. Raises FileUnreadable."""
    beyond_ascii = sum(code >= 128 for code in sample)
    if len(sample) < _SHORT and beyond_ascii < len(sample) // 5:
        return "cp1252"  # too little for statistics: western letters among ASCII ones
    guess = from_bytes(sample, cp_isolation=list(_LIKELY)).best()
    if guess is None:
        raise FileUnreadable("The character encoding of this file is unknown. Save it as UTF-8.")
    return guess.encoding


def read_text(raw: bytes) -> Iterator[DocumentBlock]:
    """Yields paragraphs; a form feed starts a new page."""
    pages = decode_text(raw).split("\f")
    for number, page in enumerate(pages, 1):
        for paragraph in re.split(r"\n[ \t]*\n", page):
            yield DocumentBlock("text", paragraph.strip("\n"), number if len(pages) > 1 else None)


def read_markdown(raw: bytes) -> Iterator[DocumentBlock]:
    lines = decode_text(raw).split("\n")
    paragraph: list[str] = []
    is_fenced = False
    for index, line in enumerate(lines):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        heading = (
            None if is_fenced else _parse_heading(line, lines[index + 1] if index + 1 < len(lines) else "", paragraph)
        )
        if heading is not None:
            yield from _paragraph_block(paragraph)
            yield heading
            paragraph = []
        elif line.strip() or is_fenced:
            paragraph.append(line)
        else:
            yield from _paragraph_block(paragraph)
            paragraph = []
    yield from _paragraph_block(paragraph)


def _parse_heading(line: str, following: str, paragraph: list[str]) -> DocumentBlock | None:
    if match := _HEADING.match(line):
        return DocumentBlock("heading", match[2], level=len(match[1]))
    if line.strip() and not paragraph and (match := _UNDERLINE.match(following)) and "|" not in line:
        return DocumentBlock("heading", line.strip(), level=1 if match[1][0] == "=" else 2)
    return None


def _paragraph_block(lines: list[str]) -> Iterator[DocumentBlock]:
    if len(lines) > 1 and _TABLE_RULE.match(lines[1]) and "|" in lines[0]:
        rows = [join_cells(line.strip().strip("|").split("|")) for line in (lines[0], *lines[2:])]
        yield DocumentBlock("table", "\n".join(rows))
        return
    kept = lines[1:] if lines and _UNDERLINE.match(lines[0]) else lines
    yield DocumentBlock("text", "\n".join(kept))


def read_csv(raw: bytes) -> Iterator[DocumentBlock]:
    """Yields one table; the first row names the columns, and every other row is a sentence of names and values."""
    text = decode_text(raw)
    csv.field_size_limit(MAX_CHARACTERS)
    # The delimiter is the most frequent one outside quotes in the first line with content.
    first = re.sub(r'"[^"]*"', "", next((line for line in text.split("\n") if line.strip()), ""))
    try:
        rows = csv.reader(text.splitlines(keepends=True), delimiter=max(_DELIMITERS, key=first.count), strict=False)
        names = [name.strip() for name in next(rows, [])]
        for cells in chain(rows, [] if "\n" in text.strip() else [names]):
            named = [
                f"{names[at]}: {value}" if at < len(names) and names[at] and cells is not names else value
                for at, cell in enumerate(cells)
                if (value := " ".join(cell.split()))
            ]
            yield DocumentBlock("text", "; ".join(named))
    except csv.Error as error:
        raise FileUnreadable(f"The table cannot be read: {error}.") from error
