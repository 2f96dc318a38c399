"""Removes the rows of a number from contact files. Pure."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from offhook.privacy.number_forms import NumberForms

# Not ``splitlines``: it would also split at bytes within letters of UTF-8.
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def remove_rows(content: bytes, forms: NumberForms) -> tuple[bytes, int]:
    """Returns a CSV file without the rows that have the number, and how many these were. All other bytes stay."""
    # Of every encoding but UTF-16 the digits are ASCII, and Latin-1 keeps each byte as it is.
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_wide else "latin-1"
    rows = list(_split_rows(content.decode(encoding, "surrogatepass" if is_wide else "strict")))
    kept = [row for row in rows if not forms.contains(row)]
    if len(kept) == len(rows):
        return content, 0
    return "".join(kept).encode(encoding, "surrogatepass" if is_wide else "strict"), len(rows) - len(kept)


def _split_rows(text: str) -> Iterator[str]:
    row = ""
    for line in _LINE.findall(text):
        row += line
        # A line break within a quoted cell belongs to the row.
        if row.count('"') % 2 == 0:
            yield row
            row = ""
    if row:
        yield row
