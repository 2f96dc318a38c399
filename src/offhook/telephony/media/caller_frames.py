"""The caller's frames in their order and at their time: late ones ordered, doubled ones dropped, lost ones concealed.

By the numbers of the wire where it has them. Else by time: after a gap, frames that come at their usual pace show that
those before them are lost; frames that come all at once were only late.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from offhook.kit.audio import FRAME_S, Codec
from offhook.telephony.media.lost_frames import LossConcealer

# Number of later frames kept while an earlier one is missing: 60 ms.
MAX_HELD_FRAMES: Final = 3
# A longer silence of the line is no loss that words go through: its first second is filled.
MAX_CONCEALED_FRAMES: Final = 50
# Before so many frames at their place, nothing is known of how a line counts, or of its pace.
MIN_STEADY_FRAMES: Final = 10
# A wire whose numbers stand still does not number its frames.
MAX_DOUBLED_IN_A_ROW: Final = 3
MIN_GAP_S: Final = 0.1
PACE_S: Final = (0.5 * FRAME_S, 1.5 * FRAME_S)


@dataclass(slots=True)
class FrameLosses:
    """Frames of one call: ``lost`` ones were concealed, ``doubled`` ones came again or too late."""

    lost: int = 0
    reordered: int = 0
    doubled: int = 0


class CallerFrames:
    """Push every frame of the caller; ``deliver`` gets them one by one."""

    def __init__(self, codec: Codec, deliver: Callable[[bytes], None]) -> None:
        self._deliver = deliver
        self._concealer = LossConcealer(codec)
        self._time = asyncio.get_running_loop().time
        self._next = -1
        self._held: dict[int, bytes] = {}
        self._steady = 0
        self._doubled_in_a_row = 0
        self._is_numbered = True
        self._came_at = 0.0
        self._after_gap: tuple[float, float, bytes] | None = None
        self.losses = FrameLosses()

    def push(self, payload: bytes, number: int | None) -> None:
        """``number`` counts frames up by one; None where the wire has no numbers."""
        if number is None or not self._is_numbered:
            self._push_by_time(payload)
        elif number == self._next and not self._held:
            self._next += 1
            self._steady += 1
            self._doubled_in_a_row = 0
            self._pass_on(payload)
        else:
            self._push_by_number(number, payload)

    def _push_by_number(self, number: int, payload: bytes) -> None:
        if self._next < 0:
            self._next = number
        if number < self._next or number in self._held:
            self.losses.doubled += 1
            self._doubled_in_a_row += 1
            if self._doubled_in_a_row >= MAX_DOUBLED_IN_A_ROW and not self._held:
                self._is_numbered = False
            return
        self._doubled_in_a_row = 0
        if self._held and number == self._next:
            self.losses.reordered += len(self._held)
        self._held[number] = payload
        if len(self._held) > MAX_HELD_FRAMES and self._next not in self._held:
            first = min(self._held)
            self._conceal(first - self._next)
            self._next = first
        while (frame := self._held.pop(self._next, None)) is not None:
            self._next += 1
            self._pass_on(frame)

    def _push_by_time(self, payload: bytes) -> None:
        now = self._time()
        pause, self._came_at = now - self._came_at, now
        if self._after_gap is not None:
            began, came_at, first = self._after_gap
            self._after_gap = None
            if now - came_at >= PACE_S[0]:
                self._conceal(round((came_at - began) / FRAME_S) - 1)
            self._pass_on(first)
        elif pause >= MIN_GAP_S and self._steady >= MIN_STEADY_FRAMES:
            self._after_gap = (now - pause, now, payload)
            return
        elif PACE_S[0] <= pause <= PACE_S[1]:
            self._steady += 1
        self._pass_on(payload)

    def _conceal(self, missing: int) -> None:
        if missing <= 0 or self._steady < MIN_STEADY_FRAMES:
            return
        self.losses.lost += missing
        for frame in self._concealer.conceal(min(missing, MAX_CONCEALED_FRAMES)):
            self._deliver(frame)

    def _pass_on(self, payload: bytes) -> None:
        self._deliver(self._concealer.remember_frame(payload))
