"""Loudness of the caller's line: the floor of its noise, and the caller's usual voice.

A voice detector alone takes babble for the caller and never stops hearing speech. Speech counts only while it stands out
from the floor, and only near the loudness of the voice itself.
"""

import math
from collections import deque
from typing import Final

import numpy as np

from offhook.voice.input.recent_sound import RecentSound

RATE: Final = 8000
SILENCE_DB: Final = -90.0
# The floor is the level below which a fifth of the last six seconds was: pauses between words reach it.
FLOOR_LEVELS: Final = 180
FLOOR_SHARE: Final = 0.2
FLOOR_EVERY: Final = 10
MIN_LEVELS: Final = 25
# A voice fades over about two minutes, so that one loud word is not the measure for the rest of the call.
FADE_DB: Final = 0.005
# The beginning of a sound is looked for in frames of 20 ms, so far back.
MAX_ONSET_S: Final = 0.5
FRAME: Final = 160
# Where voice and floor are closer than this, level says nothing.
MIN_CONTRAST_DB: Final = 8.0
THRESHOLD_SHARE: Final = 0.45
# Quiet speech of a caller on a quiet line is at most this far below their loudest.
MAX_DROP_DB: Final = 30.0


class LineLevels:
    """``sound`` gets the caller's audio. Levels are dBFS."""

    def __init__(self, sound: RecentSound) -> None:
        self._sound = sound
        self._levels: deque[float] = deque(maxlen=FLOOR_LEVELS)
        self._until_floor = 0
        self.level_db = SILENCE_DB
        self.floor_db = SILENCE_DB
        self.voice_db = SILENCE_DB

    def measure_window(self, *, is_speech: bool) -> None:
        """Measures the last 30 ms; called for each window of the voice detector."""
        last = self._sound.last_piece.astype(np.float32)
        if not last.size:
            return
        power = float(np.dot(last, last)) / last.size
        self.level_db = level = SILENCE_DB if power < 1 else 10 * math.log10(power) - 90.3
        self._levels.append(level)
        self._until_floor -= 1
        if self._until_floor <= 0 and len(self._levels) >= MIN_LEVELS:
            self._until_floor = FLOOR_EVERY
            ordered = sorted(self._levels)
            self.floor_db = ordered[int(len(ordered) * FLOOR_SHARE)]
        if is_speech:
            self.voice_db = max(level, self.voice_db - FADE_DB)

    @property
    def has_contrast(self) -> bool:
        """Returns whether something on the line was clearly louder than what is always there."""
        return self.voice_db - self.floor_db >= MIN_CONTRAST_DB

    def stands_out(self) -> bool:
        """Returns whether the last window can be the caller's voice rather than what is always on the line."""
        if not self.has_contrast or self.floor_db <= SILENCE_DB:
            return True
        threshold = self.floor_db + THRESHOLD_SHARE * (self.voice_db - self.floor_db)
        return self.level_db >= max(threshold, self.voice_db - MAX_DROP_DB)

    def loud_for_s(self) -> float:
        """Returns for how long the level has been that of the voice, 0 where nothing distinguishes it from noise."""
        if not self.has_contrast or self.floor_db <= SILENCE_DB:
            return 0.0
        samples = self._sound.last_samples(int(MAX_ONSET_S * RATE))
        frames = samples[samples.size % FRAME :].reshape(-1, FRAME).astype(np.float32)
        levels = 10 * np.log10(np.maximum((frames**2).mean(axis=1), 1.0)) - 90.3
        quiet = levels < self.floor_db + THRESHOLD_SHARE * (self.voice_db - self.floor_db)
        # a syllable may end: two quiet frames do not end the sound
        pauses = np.flatnonzero(quiet[:-2] & quiet[1:-1] & quiet[2:])
        begin = int(pauses[-1]) + 3 if pauses.size else 0
        return float(len(levels) - begin) * FRAME / RATE
