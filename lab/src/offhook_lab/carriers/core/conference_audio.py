"""Audio peers of phones besides us: rooms with other phones, and announcements."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from offhook.kit.audio import MULAW_8K
from offhook.telephony.media.simulated_phone import FRAME, SILENCE
from offhook_lab.carriers.core.phones import make_tone

ANNOUNCEMENT_HZ: Final = 700.0


class ToneAnnouncement:
    """An announcement by the carrier. Implements ``AudioPeer``; ``over`` is set at its end."""

    def __init__(self, seconds: float) -> None:
        self._left = bytearray(make_tone(seconds, ANNOUNCEMENT_HZ))
        self.over = asyncio.Event()

    def exchange_frame(self, spoken: bytes) -> bytes | None:
        frame = bytes(self._left[:FRAME])
        del self._left[:FRAME]
        if not self._left:
            self.over.set()
        return frame + SILENCE[len(frame) :]

    def press_digit(self, digit: str) -> None:
        """Does nothing: announcements do not listen."""

    def leave(self) -> None:
        self.over.set()


@dataclass(eq=False, slots=True)
class RoomSeat:
    """One phone's seat in a room. Implements ``AudioPeer``; ``over`` is set when it has left or the room has ended."""

    room: "ConferenceRoom"
    label: str
    starts: bool = True
    ends: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # spoken audio that others have not fetched yet: at most two frames, because the phones' clocks drift apart
    said: dict[int, deque[bytes]] = field(default_factory=dict)

    def exchange_frame(self, spoken: bytes) -> bytes | None:
        return self.room.mix_frame(self, spoken)

    def press_digit(self, digit: str) -> None:
        """Plays the tone to the others; it is not reported."""

    def leave(self) -> None:
        self.room.leave(self)


class ConferenceRoom:
    """A bridge of two phones or a conference of many. ``has_started``: set once two are in it and one of them may
    start."""

    def __init__(self, name: str, sid: str = "") -> None:
        self.name = name
        self.sid = sid
        self.seats: list[RoomSeat] = []
        self.has_started = False
        # in joining order, for carriers that number members
        self.numbers: dict[str, int] = {}
        self.is_over = False

    def join(self, label: str, *, starts: bool = True, ends: bool = False) -> RoomSeat:
        """Returns a seat. With ``ends``, the room ends for all when this one leaves."""
        seat = RoomSeat(self, label, starts, ends)
        self.numbers[label] = len(self.numbers) + 1
        self.seats.append(seat)
        self.has_started = self.has_started or (len(self.seats) > 1 and any(one.starts for one in self.seats))
        return seat

    def leave(self, seat: RoomSeat) -> None:
        if seat not in self.seats:
            return
        self.seats.remove(seat)
        seat.over.set()
        if seat.ends or not self.seats:
            self.end()

    def end(self) -> None:
        """Ends the room and removes all members."""
        self.is_over = True
        for seat in self.seats:
            seat.over.set()
        self.seats.clear()

    def mix_frame(self, seat: RoomSeat, spoken: bytes) -> bytes | None:
        if not self.has_started:
            return None
        frames = []
        for other in self.seats:
            if other is seat:
                continue
            seat.said.setdefault(id(other), deque(maxlen=2)).append(spoken)
            if waiting := other.said.get(id(seat)):
                frames.append(waiting.popleft())
        if len(frames) < 2:
            return frames[0] if frames else None
        mixed = np.sum([MULAW_8K.decode(frame).astype(np.int32) for frame in frames], axis=0)
        return MULAW_8K.encode(np.clip(mixed, -32768, 32767).astype(np.int16))
