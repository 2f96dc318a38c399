"""The far end of a media path: the carrier's and the handset's handling of audio, in real time.

Used by the sandbox's phones, by ``offhook call --audio`` and by load tests. It sends a frame every 20 ms, speech or
silence, plays received audio at the same pace, returns a mark once the audio before it was played, and detects by
energy whether the other side is talking.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from offhook.kit.audio import FRAME_S, MULAW_8K

FRAME: Final = MULAW_8K.frame_bytes
SILENCE: Final = MULAW_8K.silence_frame
# Mean amplitude above which a frame is speech and not line noise; quiet telephone speech is around 500 of 32768.
LOUD_AMPLITUDE: Final = 150.0
# Maximum backlog that a late loop catches up; beyond it is a stall, and a phone does not talk faster afterwards.
MAX_CATCH_UP_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class PlayAudio:
    payload: bytes


@dataclass(frozen=True, slots=True)
class PlayMark:
    name: str


@dataclass(frozen=True, slots=True)
class DropAudio:
    """A command to discard audio that was not played yet; its marks come back at once."""


PlayoutOrder = PlayAudio | PlayMark | DropAudio


class FarWire(Protocol):
    """The carrier's side of a media format. ``send`` methods write to the socket themselves."""

    def decode(self, message: str | bytes) -> PlayoutOrder | None: ...
    def send_audio(self, payload: bytes) -> None: ...
    def send_mark(self, name: str) -> None: ...
    def send_digit(self, digit: str) -> None: ...


@dataclass(slots=True)
class SpeechActivity:
    """Speech activity of the other side. Times are loop times; ``None`` = not yet."""

    is_loud: bool = False
    talked_since: float | None = None
    last_loud_at: float | None = None
    first_loud_at: float | None = None


@dataclass(slots=True)
class PlayoutBuffer:
    """The far end's buffer of received audio that was not played yet: bytes and, between them, marks."""

    buffer: bytearray = field(default_factory=bytearray)
    marks: deque[tuple[int, str]] = field(default_factory=deque)  # (bytes still before it, name)
    taken: int = 0
    added: int = 0

    def add_audio(self, payload: bytes) -> None:
        self.buffer += payload
        self.added += len(payload)

    def add_mark(self, name: str) -> None:
        self.marks.append((self.added, name))

    def clear(self) -> list[str]:
        self.taken += len(self.buffer)
        self.buffer.clear()
        return self.due_marks()

    def take_frame(self) -> bytes | None:
        if not self.buffer:
            return None
        frame = bytes(self.buffer[:FRAME])
        del self.buffer[:FRAME]
        self.taken += len(frame)
        return frame

    def due_marks(self) -> list[str]:
        names = []
        while self.marks and self.marks[0][0] <= self.taken:
            names.append(self.marks.popleft()[1])
        return names


class SimulatedPhone:
    """The line of one simulated phone. ``run`` paces it until :meth:`stop`; ``heard`` gets each played frame (or
    None)."""

    def __init__(self, wire: FarWire, heard: Callable[[bytes | None], None] | None = None) -> None:
        self._wire = wire
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._playout = PlayoutBuffer()
        self._outgoing = bytearray()
        self.is_over = False
        self._changed = asyncio.Event()
        self.speech = SpeechActivity()

    # the socket's side

    def on_message(self, message: str | bytes) -> None:
        order = self._wire.decode(message)
        if isinstance(order, PlayAudio):
            self._playout.add_audio(order.payload)
        elif isinstance(order, PlayMark):
            self._playout.add_mark(order.name)
            self._return_marks(self._playout.due_marks())
        elif isinstance(order, DropAudio):
            self._return_marks(self._playout.clear())

    def _return_marks(self, names: list[str]) -> None:
        for name in names:
            self._wire.send_mark(name)

    def stop(self) -> None:
        """Ends the call: ``run`` and every wait return."""
        self.is_over = True
        self._changed.set()

    # the caller's side

    def queue_speech(self, mulaw: bytes) -> None:
        """Queues speech after what is already being said."""
        self._outgoing += mulaw

    @property
    def is_talking(self) -> bool:
        return bool(self._outgoing)

    @property
    def has_unplayed(self) -> bool:
        return bool(self._playout.buffer)

    def quiet_for(self) -> float:
        """Returns the seconds since the other side was last loud: 0 while it talks, the age of the line if it never
        did."""
        last = self.speech.last_loud_at
        return self._loop.time() - (last if last is not None else self._began_at)

    async def next_frame(self) -> bool:
        """Waits for the next 20 ms. Returns False when the call is over."""
        if not self.is_over:
            self._changed.clear()
            await self._changed.wait()
        return not self.is_over

    async def run(self) -> None:
        """Paces both directions until the call is over."""
        self._began_at = due = self._loop.time()
        while not self.is_over:
            now = self._loop.time()
            if now - due > MAX_CATCH_UP_S:
                due = now
            while due <= now + 1e-6 and not self.is_over:
                self._exchange_frame(due)
                due += FRAME_S
            await asyncio.sleep(max(0.0, due - self._loop.time()))

    def _exchange_frame(self, at: float) -> None:
        spoken = bytes(self._outgoing[:FRAME])
        del self._outgoing[:FRAME]
        self._wire.send_audio(spoken + SILENCE[len(spoken) :])
        frame = self._playout.take_frame()
        ear = self.speech
        ear.is_loud = frame is not None and is_loud(frame)
        if ear.is_loud:
            if ear.last_loud_at is None or at - ear.last_loud_at > 1.0:
                ear.talked_since = at
            if ear.first_loud_at is None:
                ear.first_loud_at = at
            ear.last_loud_at = at
        if self._heard is not None:
            self._heard(frame)
        self._return_marks(self._playout.due_marks())
        self._changed.set()

    _began_at: float = 0.0


class PhoneReceiver:
    """The phone's end of a media socket. Implements ``MessageReceiver``."""

    def __init__(self, phone: SimulatedPhone) -> None:
        self._phone = phone

    def on_text(self, message: str | bytes) -> None:
        self._phone.on_message(message)

    on_binary = on_text

    def on_closed(self, code: int, reason: str) -> None:
        self._phone.stop()


# Amplitude of every mu-law byte in steps of 16, capped: summing a translated frame costs a fiftieth of decoding it.
_LEVELS: Final = (
    np.minimum(np.abs(MULAW_8K.decode(bytes(range(256))).astype(np.int32)) // 16, 255).astype(np.uint8).tobytes()
)


def is_loud(frame: bytes) -> bool:
    """Returns True if up to 20 ms of mu-law sound like speech."""
    return sum(frame.translate(_LEVELS)) > LOUD_AMPLITUDE / 16 * len(frame)
