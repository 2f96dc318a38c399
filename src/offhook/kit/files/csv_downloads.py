"""CSV downloads: streamed in constant memory, and safe to open in a spreadsheet."""

import csv
import io
import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from fastapi.responses import StreamingResponse

from offhook.kit.files.downloads import content_disposition

MEDIA_TYPE: Final = "text/csv; charset=utf-8"
_CHUNK_CHARS: Final = 64 * 1024
# Characters that start a formula in spreadsheets, including their full-width forms.
_FORMULA: Final = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# Where the list separator is a semicolon, as in most of Europe, a cell ends at one, or with its line, in spite of quotes.
_LATER_FORMULA: Final = re.compile('([;\\r\\n][\\s"]*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])')
_PHONE_NUMBER: Final = re.compile(r"\+[0-9]{3,15}")


def format_cell(value: Any) -> str:
    """Formats one value as text. Times become ISO 8601 in UTC, objects JSON, None nothing; text that a spreadsheet
    would run gets a leading apostrophe, except phone numbers (``+`` and digits); so does what follows a semicolon or a
    line break in it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case dict() | list() | tuple():
            value = json.dumps(value, ensure_ascii=False, default=str)
    text = str(value).replace("\0", "")
    text = _LATER_FORMULA.sub(r"\1'", text)
    if _FORMULA.match(text) and not _PHONE_NUMBER.fullmatch(text):
        return "'" + text
    return text


async def encode_csv(header: Sequence[str], rows: AsyncIterable[Sequence[Any]]) -> AsyncIterator[bytes]:
    """Encodes RFC 4180 CSV in UTF-8, in pieces of about 64 KB; the last piece holds the rest, at least the header."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([format_cell(name) for name in header])
    async for row in rows:
        writer.writerow([format_cell(value) for value in row])
        if buffer.tell() >= _CHUNK_CHARS:
            yield _drain_buffer(buffer)
    yield _drain_buffer(buffer)


async def csv_response(filename: str, header: Sequence[str], rows: AsyncIterable[Sequence[Any]]) -> StreamingResponse:
    """Returns a download. Its first piece is made before the response starts, so that an error there is still an error
    response.

    ``rows`` should read the database in pages, each in its own transaction: a slow client may take an hour.
    """
    pieces = encode_csv(header, rows)
    first = await anext(pieces)
    headers = {"Content-Disposition": content_disposition(filename, kind="attachment"), "Cache-Control": "no-store"}
    return StreamingResponse(_prepend_piece(first, pieces), media_type=MEDIA_TYPE, headers=headers)


def _drain_buffer(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    # A model's JSON may contain half of a surrogate pair.
    return text.encode("utf-8", "replace")


async def _prepend_piece(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece
