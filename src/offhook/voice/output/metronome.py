"""One 20 ms beat for all calls of the process: a timer per call would cost more than the frames it sends."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Protocol
from weakref import WeakKeyDictionary

from offhook.kit.audio import FRAME_S


class FramePlayer(Protocol):
    def send_due_frames(self, beat: float) -> bool:
        """Sends the frames due at this beat (loop time); returns False when nothing is left to send."""
        ...


class Metronome:
    """Beats only while a call is playing audio. ``add`` is idempotent and takes effect immediately.

    ``on_beat`` hears when each beat came and how late it was, in seconds of the loop's time.
    """

    _of_loop: ClassVar["WeakKeyDictionary[asyncio.AbstractEventLoop, Metronome]"] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._players: dict[FramePlayer, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        self.on_beat: Callable[[float, float], None] | None = None

    @classmethod
    def of_running_loop(cls) -> "Metronome":
        loop = asyncio.get_running_loop()
        found = cls._of_loop.get(loop)
        if found is None:
            found = cls._of_loop[loop] = cls(loop)
        return found

    @property
    def is_beating(self) -> bool:
        """Whether a call is playing audio."""
        return self._timer is not None

    def add(self, player: FramePlayer) -> None:
        self._players[player] = None
        if self._timer is None:
            self._next = self._loop.time() + FRAME_S
            self._timer = self._loop.call_at(self._next, self._run_beat)

    def remove(self, player: FramePlayer) -> None:
        self._players.pop(player, None)

    def _run_beat(self) -> None:
        now = self._loop.time()
        if self.on_beat is not None:
            self.on_beat(now, now - self._next)
        # absolute beats, so that delays never add up; this beat makes up for missed ones
        beat = self._next + max(0.0, (now - self._next) // FRAME_S) * FRAME_S
        for player in list(self._players):
            if not player.send_due_frames(beat):
                self._players.pop(player, None)
        if not self._players:
            self._timer = None
            return
        self._next = beat + FRAME_S
        self._timer = self._loop.call_at(self._next, self._run_beat)
