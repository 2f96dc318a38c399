"""Frames of the caller that never came: concealed as in ITU-T G.711 Appendix I, so that words keep their length.

The last pitch period of the voice is repeated and fades within 60 ms to noise as soft as the line's own.
"""

import math
from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import FRAME_S, Codec

FloatArray = NDArray[np.float64]
# Kept to find the level of the line's noise: a second.
KEPT_FRAMES: Final = 50
# The pitch is looked for in the last 60 ms, between 66 and 250 Hz.
HISTORY_FRAMES: Final = 3
MIN_PITCH_S: Final = 0.004
MAX_PITCH_S: Final = 0.015
FULL_S: Final = 0.01
FADED_S: Final = 0.06
# The first frame that comes again passes over from what was made, within 5 ms.
BLEND_S: Final = 0.005
# A fifth of the last second is as soft as the noise of the line, which is at most -45 dBFS.
FLOOR_SHARE: Final = 0.2
MAX_FLOOR: Final = 184.0


class LossConcealer:
    """Remembers what was heard, and makes up for what was not. Frames are in the line's codec."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._heard: deque[bytes] = deque(maxlen=KEPT_FRAMES)
        self._tail: FloatArray | None = None

    def remember_frame(self, payload: bytes) -> bytes:
        """Returns a frame that came, joined to what was made before it."""
        if self._tail is not None:
            payload = self._blend(payload, self._tail)
            self._tail = None
        self._heard.append(payload)
        return payload

    def conceal(self, count: int) -> list[bytes]:
        """Returns ``count`` frames in the place of those that are missing."""
        rate = self._codec.sample_rate
        size, blend = round(rate * FRAME_S), round(rate * BLEND_S)
        whole = [frame for frame in self._heard if len(frame) == self._codec.frame_bytes]
        if not whole:
            return [self._codec.silence_frame] * count
        frames = np.stack([self._codec.decode(frame) for frame in whole]).astype(np.float64)
        made = self._repeat_voice(frames[-HISTORY_FRAMES:].reshape(-1), count * size + blend)
        levels = np.sort(np.sqrt((frames**2).mean(axis=1)))
        noise = np.random.default_rng(7).standard_normal(made.size)
        made += noise * min(levels[int(levels.size * FLOOR_SHARE)], MAX_FLOOR) * self._fade_in(made.size)
        self._tail = made[count * size :]
        samples = np.clip(made[: count * size], -32768, 32767).astype(np.int16)
        return [self._codec.encode(frame) for frame in samples.reshape(count, size)]

    def _repeat_voice(self, history: FloatArray, size: int) -> FloatArray:
        rate = self._codec.sample_rate
        shortest, longest = int(MIN_PITCH_S * rate), int(MAX_PITCH_S * rate)
        pattern = history[-longest:]
        best, period = -1.0, longest
        for lag in range(shortest, longest + 1):
            earlier = history[-longest - lag : -lag]
            if earlier.size < longest:
                break
            likeness = float(pattern @ earlier) / math.sqrt(max(float(earlier @ earlier), 1.0))
            if likeness > best:
                best, period = likeness, lag
        return np.resize(history[-period:], size) * (1 - self._fade_in(size))

    def _fade_in(self, size: int) -> FloatArray:
        at = np.arange(size) / self._codec.sample_rate
        faded: FloatArray = np.clip((at - FULL_S) / (FADED_S - FULL_S), 0.0, 1.0)
        return faded

    def _blend(self, payload: bytes, tail: FloatArray) -> bytes:
        samples = self._codec.decode(payload).astype(np.float64)
        size = min(tail.size, samples.size)
        share = np.linspace(0.0, 1.0, size, endpoint=False)
        samples[:size] = samples[:size] * share + tail[:size] * (1 - share)
        return self._codec.encode(np.clip(samples, -32768, 32767).astype(np.int16))
