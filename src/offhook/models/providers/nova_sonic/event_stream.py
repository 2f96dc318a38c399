"""Messages of ``application/vnd.amazon.eventstream``: lengths, headers, a payload, and checksums of both.

Written from the vendor's description; tests compare it with botocore, which is too heavy to be used for this (decision 115).
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

HeaderValue = str | bytes | datetime | bool | int
_PRELUDE: Final = struct.Struct(">II")
_OVERHEAD: Final = 16
MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_BYTES, _TEXT, _TIME = 6, 7, 8
# lengths of the types that have a fixed one
_WHOLE_NUMBERS: Final = {2: 1, 3: 2, 4: 4, 5: 8}


class MalformedMessage(ValueError):
    """The bytes are no message of an event stream."""


@dataclass(frozen=True, slots=True)
class EventMessage:
    headers: Mapping[str, HeaderValue]
    payload: bytes


def encode_headers(headers: Mapping[str, HeaderValue]) -> bytes:
    """Encodes headers whose values are texts, bytes or times: no message of ours has others."""
    parts: list[bytes] = []
    for name, value in headers.items():
        parts.append(bytes([len(name)]) + name.encode())
        if isinstance(value, datetime):
            # to the second: the signed text has no fractions
            parts.append(struct.pack(">Bq", _TIME, int(value.timestamp()) * 1000))
        else:
            is_text = isinstance(value, str)
            raw = value.encode() if isinstance(value, str) else bytes(value)
            parts.append(struct.pack(">BH", _TEXT if is_text else _BYTES, len(raw)) + raw)
    return b"".join(parts)


def encode_message(headers: Mapping[str, HeaderValue], payload: bytes) -> bytes:
    encoded = encode_headers(headers)
    prelude = _PRELUDE.pack(_OVERHEAD + len(encoded) + len(payload), len(encoded))
    start = prelude + struct.pack(">I", zlib.crc32(prelude)) + encoded + payload
    return start + struct.pack(">I", zlib.crc32(start))


class MessageReader:
    """Splits received bytes into messages."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def push_bytes(self, data: bytes) -> Iterator[EventMessage]:
        """Yields the messages that are complete. Raises MalformedMessage."""
        self._pending += data
        while len(self._pending) >= _OVERHEAD:
            total, header_bytes = _PRELUDE.unpack_from(self._pending)
            is_possible = _OVERHEAD + header_bytes <= total <= MAX_MESSAGE_BYTES
            if not is_possible or zlib.crc32(self._pending[:8]) != int.from_bytes(self._pending[8:12]):
                raise MalformedMessage("the lengths of a message do not match their checksum")
            if len(self._pending) < total:
                return
            raw = bytes(self._pending[:total])
            del self._pending[:total]
            if zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:]):
                raise MalformedMessage("a message does not match its checksum")
            yield EventMessage(decode_headers(raw[12 : 12 + header_bytes]), raw[12 + header_bytes : -4])


def decode_headers(raw: bytes) -> dict[str, HeaderValue]:
    """Decodes headers of all types. Raises MalformedMessage."""
    found: dict[str, HeaderValue] = {}
    at = 0
    try:
        while at < len(raw):
            size = raw[at]
            name, kind = raw[at + 1 : at + 1 + size].decode(), raw[at + 1 + size]
            found[name], at = _decode_value(kind, raw, at + 2 + size)
    except (IndexError, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise MalformedMessage("the headers of a message cannot be read") from error
    return found


def _decode_value(kind: int, raw: bytes, at: int) -> tuple[HeaderValue, int]:
    """Returns a value and where it ends."""
    if kind in (0, 1):
        return kind == 0, at
    if kind in _WHOLE_NUMBERS:
        end = at + _WHOLE_NUMBERS[kind]
        return int.from_bytes(raw[at:end], signed=True), end
    if kind == _TIME:
        return datetime.fromtimestamp(struct.unpack_from(">q", raw, at)[0] / 1000, UTC), at + 8
    if kind in (_BYTES, _TEXT):
        end = at + 2 + struct.unpack_from(">H", raw, at)[0]
        value = raw[at + 2 : end]
        return (value.decode() if kind == _TEXT else value), end
    if kind == 9:  # a UUID
        return raw[at : at + 16], at + 16
    raise MalformedMessage(f"a header of the unknown type {kind}")
