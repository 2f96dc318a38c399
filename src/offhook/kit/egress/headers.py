"""Validates headers that users set: none can inject another header or control the connection."""

import re
from collections.abc import Mapping
from typing import Final

import httpx2

from offhook.kit.egress.errors import HeaderInvalid

MAX_VALUE: Final = 8192
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
# Values are sent as UTF-8, which cannot hold half of a surrogate pair; control characters of either half of Latin-1 are
# not text.
_VALUE: Final = re.compile("[\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\U0010ffff\\t]*")
_RESERVED_HEADERS: Final = {
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


def check_header(name: str, value: str) -> None:
    """Raises :class:`HeaderInvalid` for a name or value that must not be sent."""
    if not _NAME.fullmatch(name):
        raise HeaderInvalid(f"{name[:80]!r} is not a header's name.")
    if name.lower() in _RESERVED_HEADERS or name.lower().startswith("proxy-"):
        raise HeaderInvalid(f"The header {name!r} is set by the platform and cannot be changed.")
    if len(value) > MAX_VALUE or not _VALUE.fullmatch(value):
        raise HeaderInvalid(
            f"The value of the header {name!r} contains line breaks or control characters, or is too long."
        )


def normalize_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers with lower-case names and stripped values; raises :class:`HeaderInvalid`."""
    for name, value in headers.items():
        check_header(name, value)
    return {name.lower(): value.strip() for name, value in headers.items()}


def encode_headers(headers: Mapping[str, str]) -> httpx2.Headers:
    """Returns the headers as bytes with values in UTF-8; the library itself accepts only ASCII."""
    return httpx2.Headers(headers, encoding="utf-8")
