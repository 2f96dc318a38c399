"""Frames of RFC 6455: decodes a client's bytes into whole messages, and encodes a server's messages."""

import math
import struct
from dataclasses import dataclass
from typing import Final

from websockets.frames import (  # type: ignore[attr-defined]  # apply_mask is C where there is a wheel
    CloseCode,
    apply_mask,
)

from offhook.kit.media_sockets.sockets import POLICY

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
_LENGTH_16: Final = struct.Struct("!BBH")
_LENGTH_64: Final = struct.Struct("!BBQ")


class FrameError(Exception):
    """The peer broke the protocol; ``code`` is the matching close code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(slots=True)
class SocketMessage:
    """A whole message or control frame; ``opcode`` is never CONT."""

    opcode: int
    payload: bytes


def encode_frame(opcode: int, payload: bytes) -> bytes:
    """Returns one unmasked final frame, as servers send it."""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, size)) + payload
    if size < 65536:
        return _LENGTH_16.pack(0x80 | opcode, 126, size) + payload
    return _LENGTH_64.pack(0x80 | opcode, 127, size) + payload


class FrameReader:
    """Converts a client's bytes into whole messages. A message that is too big is skipped, not kept.

    ``frames_left``: how many more frames are read.
    """

    def __init__(self, max_message_bytes: int, frames_left: float = math.inf) -> None:
        self.frames_left = frames_left
        self._max = max_message_bytes
        self._rest = b""
        self._parts: list[bytes] = []
        self._parts_size = 0
        self._parts_opcode = CONT
        self._skip = 0

    def read_single(self, data: bytes) -> bytes | None:
        """Returns the text if the data is exactly one message of 126 to 65,535 bytes, as nearly all frames of audio are.
        Returns None for everything else, and reads nothing of it."""
        if len(data) < 134 or data[0] != 0x81 or data[1] != 0xFE or self._rest or self._parts_opcode or self._skip:
            return None
        size = (data[2] << 8) | data[3]
        if len(data) != size + 8 or size > self._max or self.frames_left < 1:
            return None
        self.frames_left -= 1
        return apply_mask(data[8:], data[4:8])

    def feed(self, data: bytes) -> "list[SocketMessage | FrameError]":
        """Returns messages in order; an error takes its place in the list. After 1002 and 1008 nothing more is read."""
        found: list[SocketMessage | FrameError] = []
        if self._rest:
            data = self._rest + data
            self._rest = b""
        position, end = 0, len(data)
        while position < end:
            if self._skip:
                step = min(self._skip, end - position)
                self._skip -= step
                position += step
                continue
            if self.frames_left < 1:
                found.append(FrameError(POLICY, "too many messages"))
                return found
            try:
                taken = self._read_frame(data, position, end, found)
            except FrameError as error:
                found.append(error)
                return found
            if not taken:
                self._rest = data[position:]
                break
            self.frames_left -= 1
            position += taken
        return found

    def _read_frame(self, data: bytes, start: int, end: int, found: "list[SocketMessage | FrameError]") -> int:
        """Reads the frame at ``start`` and returns its length in bytes, 0 while it is incomplete."""
        if end - start < 6:
            return 0
        first, second = data[start], data[start + 1]
        size = second & 0x7F
        head = start + 2
        if size == 126:
            if end - start < 8:
                return 0
            size = (data[head] << 8) | data[head + 1]
            head += 2
        elif size == 127:
            if end - start < 14:
                return 0
            size = int.from_bytes(data[head : head + 8], "big")
            head += 8
        body = head + 4
        opcode = first & 0x0F
        self._check_header(first, second, opcode, size)
        if size + self._parts_size > self._max and opcode < CLOSE:
            found.append(FrameError(CloseCode.MESSAGE_TOO_BIG, f"a message may have {self._max} bytes"))
            self._parts, self._parts_size, self._parts_opcode = [], 0, CONT
            self._skip = max(0, body + size - end)
            return min(body + size, end) - start
        if end - body < size:
            return 0
        payload = apply_mask(data[body : body + size], data[head:body])
        if first >= 0x80 and opcode:
            found.append(SocketMessage(opcode, payload))
        else:
            self._add_fragment(first >= 0x80, opcode, payload, found)
        return body + size - start

    def _check_header(self, first: int, second: int, opcode: int, size: int) -> None:
        if first & 0x70:
            raise FrameError(CloseCode.PROTOCOL_ERROR, "reserved bits are set")
        if not second & 0x80:
            raise FrameError(CloseCode.PROTOCOL_ERROR, "a client must mask its frames")
        if opcode >= CLOSE:
            if opcode > PONG:
                raise FrameError(CloseCode.PROTOCOL_ERROR, "unknown opcode")
            if size > 125 or first < 0x80:
                raise FrameError(CloseCode.PROTOCOL_ERROR, "a control frame is too long or fragmented")
        elif opcode > BINARY:
            raise FrameError(CloseCode.PROTOCOL_ERROR, "unknown opcode")
        elif opcode and self._parts_opcode:
            raise FrameError(CloseCode.PROTOCOL_ERROR, "a new message begins inside another")

    def _add_fragment(
        self, is_last: bool, opcode: int, payload: bytes, found: "list[SocketMessage | FrameError]"
    ) -> None:
        if opcode:
            self._parts_opcode = opcode
        elif not self._parts_opcode:
            raise FrameError(CloseCode.PROTOCOL_ERROR, "nothing to continue")
        self._parts.append(payload)
        # an empty fragment counts too, or a peer could send them forever
        self._parts_size += max(len(payload), 1)
        if is_last:
            found.append(SocketMessage(self._parts_opcode, b"".join(self._parts)))
            self._parts, self._parts_size, self._parts_opcode = [], 0, CONT
