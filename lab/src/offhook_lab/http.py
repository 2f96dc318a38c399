"""Minimal HTTP/1.1 for emulators: plain asyncio streams, so that a test's virtual clock drives them too."""

import asyncio
from collections.abc import Mapping
from typing import Final

_REASONS: Final = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Payload Too Large",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Site is overloaded",
}
_MAX_BODY: Final = 8 * 1024 * 1024


async def read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    """Returns the request line, headers by lowercase name and body; None when the client has closed."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
        line, *rest = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (entry.partition(":") for entry in rest)}
        length = min(int(headers.get("content-length", "0")), _MAX_BODY)
        return line, headers, await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None


def encode_head(status: int, headers: Mapping[str, str]) -> bytes:
    """Returns status line and headers of a response, with the empty line that ends them."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
