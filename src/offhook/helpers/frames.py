"""How we talk with a helper program over its pipes: a channel, a kind and a payload."""

import struct
from typing import BinaryIO, Final

HEADER: Final = struct.Struct("!IBI")
MAX_PAYLOAD: Final = 16 * 1024 * 1024


def pack(channel: int, kind: int, payload: bytes = b"") -> bytes:
    """One frame: a 32-bit channel, an 8-bit kind, and what belongs to it."""
    return HEADER.pack(channel, kind, len(payload)) + payload


def read(stream: BinaryIO) -> tuple[int, int, bytes] | None:
    """The next frame of a blocking pipe; None when the other side is gone."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    channel, kind, size = HEADER.unpack(head)
    payload = stream.read(size)
    return None if len(payload) < size else (channel, kind, payload)


def unpack(buffer: bytearray) -> list[tuple[int, int, bytes]]:
    """Take the whole frames out of what has arrived; the rest stays in the buffer."""
    frames = []
    at = 0
    while len(buffer) - at >= HEADER.size:
        channel, kind, size = HEADER.unpack_from(buffer, at)
        if size > MAX_PAYLOAD:
            raise ValueError("a helper sent a frame that is too large")
        if len(buffer) - at - HEADER.size < size:
            break
        begin = at + HEADER.size
        frames.append((channel, kind, bytes(buffer[begin : begin + size])))
        at = begin + size
    del buffer[:at]
    return frames
