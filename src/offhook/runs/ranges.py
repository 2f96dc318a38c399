"""Files over HTTP in ranges, also while they grow: a length is decided once and never overrun."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9 ._()-]+")
_CHUNK: Final = 256 * 1024


def wanted(header: str | None, size: int) -> tuple[int, int] | None:
    """``(start, stop)`` of one byte range; the whole file when there is no usable header, None when it lies outside."""
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or match[1] == match[2] == "":
        return 0, size
    if match[1] == "":
        tail = int(match[2][:18])
        return (max(0, size - tail), size) if tail else None
    start = int(match[1][:18])
    if match[2] and int(match[2][:18]) < start:
        return 0, size
    stop = min(size, int(match[2][:18]) + 1) if match[2] else size
    return (start, stop) if start < stop else None


def disposition(filename: str) -> str:
    """``Content-Disposition`` for a name of any characters: people name runs, and a header takes Latin-1 without breaks."""
    if _PLAIN_NAME.fullmatch(filename):
        return f'inline; filename="{filename}"'
    return f"inline; filename*=utf-8''{quote(filename, safe='', errors='replace')}"


async def respond(path: Path, range_header: str | None, *, media_type: str, filename: str) -> Response:
    """200 with the file as long as it is now, 206 with a part of it, or 416. FileNotFoundError when there is none."""
    size = (await asyncio.to_thread(path.stat)).st_size
    span = wanted(range_header, size)
    headers = {"Accept-Ranges": "bytes", "Cache-Control": "private, no-cache"}
    if span is None:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{size}"})
    start, stop = span
    headers |= {"Content-Length": str(stop - start), "Content-Disposition": disposition(filename)}
    status = 200
    if (start, stop) != (0, size):
        status = 206
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return StreamingResponse(_read(path, start, stop), status, headers, media_type)


async def _read(path: Path, start: int, stop: int) -> AsyncIterator[bytes]:
    descriptor = await asyncio.to_thread(os.open, path, os.O_RDONLY)
    try:
        while start < stop:
            chunk = await asyncio.to_thread(os.pread, descriptor, min(_CHUNK, stop - start), start)
            if not chunk:
                return
            start += len(chunk)
            yield chunk
    finally:
        os.close(descriptor)
