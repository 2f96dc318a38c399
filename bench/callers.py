"""The load: callers on Twilio-shaped sockets who talk for 3 s, listen for 3 s and sometimes interrupt.

A caller costs a few microseconds per frame (its messages are prepared in advance, masked with a zero key), so that the
machine's other core measures the server and not us.
"""

import asyncio
import base64
import os
import struct
from dataclasses import dataclass, field
from typing import Final, cast
from urllib.parse import urlsplit

import numpy as np

from offhook.kit.audio import MULAW_8K

FRAME_S: Final = 0.02
TALK_S: Final = 3.0
LISTEN_S: Final = 3.0
# Every fifth turn the caller talks again half a second into the answer.
INTERRUPT_EVERY: Final = 5
INTERRUPT_AFTER_S: Final = 0.5
# A gap longer than this ends an answer; a shorter one is a hole in it.
ANSWER_GAP_S: Final = 0.25
COMFORT_PEAK: Final = 700


def masked_text(message: bytes) -> bytes:
    """Returns one client frame. The mask is zero, which RFC 6455 allows and which costs nothing to apply."""
    size = len(message)
    head = bytes((0x81, 0x80 | size)) if size < 126 else struct.pack("!BBH", 0x81, 0x80 | 126, size)
    return head + b"\0\0\0\0" + message


def media_messages(mulaw: bytes) -> list[bytes]:
    frames = [mulaw[at : at + 160] for at in range(0, len(mulaw) - 159, 160)]
    text = '{"event":"media","sequenceNumber":"4","streamSid":"MZ1","media":{"track":"inbound","chunk":"2","timestamp":"160","payload":"%s"}}'
    return [masked_text((text % base64.b64encode(frame).decode()).encode()) for frame in frames]


def is_sound(message: bytes) -> bool:
    """Returns whether an agent's frame is more than comfort noise, which is below -45 dBFS."""
    payload = message[message.rfind(b'"payload":"') + 11 : -3]
    return int(np.abs(MULAW_8K.decode(base64.b64decode(payload))).max()) > COMFORT_PEAK


@dataclass
class Measures:
    """Measurements in milliseconds, except for the counts."""

    answers_ms: list[float] = field(default_factory=list)
    gaps_ms: list[float] = field(default_factory=list)
    # Of these, the ones in which the caller was silent: an agent may pause while it is talked over.
    unprovoked_gaps_ms: list[float] = field(default_factory=list)
    barge_ms: list[float] = field(default_factory=list)
    turns: int = 0
    unanswered: int = 0
    lost: int = 0


class Caller(asyncio.Protocol):
    """One call. ``measuring`` is switched on when the load is steady."""

    def __init__(self, url: str, speech: list[bytes], quiet: list[bytes], measures: Measures, clock: "Clock") -> None:
        self._parts = urlsplit(url)
        self._speech = speech
        self._quiet = quiet
        self._measures = measures
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._is_open = False
        self._talk_from = 0.0
        self._frame = 0
        self._is_talking = False
        self._turn = 0
        self._stopped_at: float | None = None
        self._interrupted_at: float | None = None
        self._last_frame_at = self._last_sound_at = 0.0
        self._answer_began: float | None = None
        self._play_until = 0.0
        self._has_hung_up = False
        self.is_closed = asyncio.Event()

    # -- the socket -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast(asyncio.Transport, transport)  # uvloop's type matches by shape only
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET {self._parts.path} HTTP/1.1\r\nHost: {self._parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        if not self._is_open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = head
                return
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                raise ConnectionError(head.decode(errors="replace"))
            self._is_open = True
            self._send(b'{"event":"connected","protocol":"Call","version":"1.0.0"}')
            self._send(
                b'{"event":"start","sequenceNumber":"1","streamSid":"MZ1","start":{"streamSid":"MZ1","accountSid":"AC1",'
                b'"callSid":"CA1","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":"8000","channels":"1"}}}'
            )
        at = 0
        while len(data) - at >= 2:
            size, begin = data[at + 1], at + 2
            if size == 126:
                if len(data) - at < 4:
                    break
                size, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            if len(data) < begin + size:
                break
            self._message(data[at] & 15, data[begin : begin + size])
            at = begin + size
        self._rest = data[at:]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._clock.is_over and not self._has_hung_up:
            self._measures.lost += 1
        self._is_open = False
        self.is_closed.set()

    def _send(self, message: bytes) -> None:
        if self._transport is not None:
            self._transport.write(masked_text(message))

    # -- the agent's side ---------------------------------------------------------------------------------------------

    def _message(self, opcode: int, message: bytes) -> None:
        now = self._loop.time()
        if opcode == 9 and self._transport is not None:
            self._transport.write(bytes((0x8A, 0x80 | len(message))) + b"\0\0\0\0" + message)
        elif message.startswith(b'{"event":"media"'):
            self._agent_frame(now, is_sound=not self._clock.has_comfort_noise or is_sound(message))
        elif message.startswith(b'{"event":"mark"'):
            self._loop.call_at(max(now, self._play_until), self._send, message)
        elif message.startswith(b'{"event":"clear"'):
            self._play_until = now

    def _agent_frame(self, now: float, *, is_sound: bool) -> None:
        measures, gap = self._measures, now - self._last_frame_at
        self._last_frame_at = now
        self._play_until = max(now, self._play_until) + FRAME_S
        if gap < ANSWER_GAP_S and self._clock.measuring:
            measures.gaps_ms.append(gap * 1000)
            if not self._is_talking:
                measures.unprovoked_gaps_ms.append(gap * 1000)
        if not is_sound:
            return
        silence, self._last_sound_at = now - self._last_sound_at, now
        if silence < ANSWER_GAP_S:
            return
        self._answer_began = now
        if self._stopped_at is not None:
            if self._clock.measuring:
                measures.answers_ms.append((now - self._stopped_at) * 1000)
            self._stopped_at = None

    # -- the caller's side --------------------------------------------------------------------------------------------

    def begin(self, at: float) -> None:
        self._talk_from = at

    def beat(self, now: float) -> None:
        """Sends the frame that is due; called every 20 ms."""
        if not self._is_open or self._has_hung_up or self._transport is None:
            return
        self._frame += 1
        if not self._is_talking:
            self._transport.write(self._quiet[self._frame % len(self._quiet)])
            if now >= self._talk_from or self._wants_to_interrupt(now):
                self._start_talking(now)
            return
        index = int((now - self._talk_from) / FRAME_S)
        if index < len(self._speech):
            self._transport.write(self._speech[index])
            self._note_silenced(now)
        else:
            self._transport.write(self._quiet[self._frame % len(self._quiet)])
            self._stop_talking(now)

    def _wants_to_interrupt(self, now: float) -> bool:
        return (
            self._turn % INTERRUPT_EVERY == INTERRUPT_EVERY - 1
            and self._answer_began is not None
            and now - self._answer_began >= INTERRUPT_AFTER_S
            and now - self._last_sound_at < 0.06
        )

    def _start_talking(self, now: float) -> None:
        if self._stopped_at is not None and self._clock.measuring:
            self._measures.unanswered += 1
        is_interruption = now < self._talk_from
        self._is_talking = True
        self._talk_from = now
        self._stopped_at = None
        self._answer_began = None
        self._interrupted_at = now if is_interruption else None

    def _note_silenced(self, now: float) -> None:
        began = self._interrupted_at
        if began is not None and now - began > 1.0:
            if self._clock.measuring:
                self._measures.barge_ms.append(max(0.0, self._last_sound_at - began) * 1000)
            self._interrupted_at = None

    def _stop_talking(self, now: float) -> None:
        self._is_talking = False
        self._stopped_at = self._talk_from + len(self._speech) * FRAME_S
        self._talk_from = now + LISTEN_S
        self._turn += 1
        if self._clock.measuring:
            self._measures.turns += 1

    def hang_up(self) -> None:
        self._has_hung_up = True
        if self._transport is not None and self._is_open:
            self._send(b'{"event":"stop","streamSid":"MZ1","stop":{"accountSid":"AC1","callSid":"CA1"}}')


@dataclass
class Clock:
    measuring: bool = False
    is_over: bool = False
    has_comfort_noise: bool = False


def audio(samples: "object") -> list[bytes]:
    return media_messages(MULAW_8K.encode(samples))  # type: ignore[arg-type]
