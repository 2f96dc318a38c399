"""Serves files over HTTP in ranges, even while they grow: a length is decided once and never exceeded."""

import re
from collections.abc import AsyncIterator
from typing import Any, Final, Protocol, TypeVar

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from offhook.errors import DomainError
from offhook.kit.files.downloads import content_disposition
from offhook.kit.files.file_store import FileGone

_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")


class SizedFile(Protocol):
    @property
    def size(self) -> int: ...


FileT = TypeVar("FileT", bound=SizedFile)


class RangedStore(Protocol[FileT]):
    """Files that are read in parts, as :class:`FileStore` has them."""

    async def find_file(self, key: str) -> FileT:
        """Raises FileGone."""
        ...

    def read_range(self, file: FileT, start: int, stop: int) -> AsyncIterator[bytes]: ...


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Returns ``(start, stop)`` of the single requested byte range; None without a usable one, which means the whole
    file.

    ``start`` is not before ``stop`` when the range lies outside the file.
    """
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None or match[1] == match[2] == "":
        return None
    if match[1] == "":
        tail = int(match[2][:18])
        return max(0, size - tail), size
    start = int(match[1][:18])
    if match[2] and int(match[2][:18]) < start:
        return None
    return start, min(size, int(match[2][:18]) + 1) if match[2] else size


class RangeResponse(Response):
    """Sends 200 with the file at its current length, 206 with a part of it, or 416; raises ``missing`` without a file.

    Looks for the file when the response is sent, after the request's transaction: a bucket that takes a minute to
    respond would otherwise hold a database connection for that long.
    """

    def __init__(
        self,
        store: RangedStore[Any],
        key: str,
        range_header: str | None,
        media_type: str,
        filename: str,
        *,
        missing: type[DomainError],
    ) -> None:
        super().__init__(media_type=media_type)
        self._store, self._key, self._range, self._filename = store, key, range_header, filename
        self._missing = missing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            file = await self._store.find_file(self._key)
        except FileGone:
            raise self._missing from None
        await self._answer(file)(scope, receive, send)

    def _answer(self, file: SizedFile) -> Response:
        span = parse_range(self._range, file.size)
        headers = {"Accept-Ranges": "bytes", "Cache-Control": "private, no-cache"}
        if span is not None and span[0] >= span[1]:
            return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{file.size}"})
        start, stop = span or (0, file.size)
        headers |= {"Content-Length": str(stop - start), "Content-Disposition": content_disposition(self._filename)}
        if span is not None:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
        status = 200 if span is None else 206
        return StreamingResponse(self._store.read_range(file, start, stop), status, headers, self.media_type)
