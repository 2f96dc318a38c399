"""The last seconds of the caller's sound, each frame of which is analyzed once, however often a stretch is measured."""

from collections import deque
from typing import Final

import numpy as np

from offhook.kit.audio import Samples
from offhook.voice.input.sound_evidence import (
    COLUMNS,
    FRAME,
    HOP,
    POWER,
    RATE,
    SPECTRUM,
    FloatArray,
    Positions,
    SoundEvidence,
    analyze_spectrum,
    find_loud,
    measure_power,
    summarize,
)

RECENT_S: Final = 2.2
_SIZE: Final = int(RECENT_S * RATE)
_FRAMES: Final = (_SIZE - FRAME) // HOP + 1
# The newest whole frame can end nearly a step before the newest sample.
_KEPT: Final = _SIZE + HOP


class RecentSound:
    """Push every piece of audio at 8 kHz. Frames begin at multiples of ``HOP`` samples from the first piece on."""

    def __init__(self) -> None:
        self._pieces: deque[Samples] = deque()
        self._kept = 0
        self._total = 0
        # A row for each of the last frames, the newest last; NaN where no measurement has needed it yet.
        self._rows: FloatArray = np.full((_FRAMES, COLUMNS), np.nan, np.float32)
        self._rows_end = 0

    def push(self, samples: Samples) -> None:
        if not samples.size:
            return
        self._pieces.append(samples)
        self._kept += samples.size
        self._total += samples.size
        while self._kept - self._pieces[0].size >= _KEPT:
            self._kept -= self._pieces.popleft().size

    @property
    def last_piece(self) -> Samples:
        """Returns what was pushed last; empty before that."""
        return self._pieces[-1] if self._pieces else np.zeros(0, np.int16)

    def last_samples(self, size: int) -> Samples:
        """Returns the last ``size`` samples, or all that there are: hardly more than ``RECENT_S`` of them are kept."""
        have = 0
        pieces: list[Samples] = []
        for piece in reversed(self._pieces):
            pieces.append(piece)
            have += piece.size
            if have >= size:
                break
        return np.concatenate(pieces[::-1])[-size:] if pieces else self.last_piece

    def measure(self, seconds: float, floor_db: float, *, every: int = 1) -> SoundEvidence:
        """Measures the whole frames of the last ``seconds``, at most ``RECENT_S``; of the loud ones one in ``every``. With
        more than 1, ``change_db`` is not measured."""
        wanted = (min(int(seconds * RATE), self._total, _SIZE) - FRAME) // HOP + 1
        self._shift_rows()
        count = min(wanted, self._rows_end)
        if count < 2:
            return SoundEvidence()
        rows = self._rows[-count:]
        unknown = np.flatnonzero(np.isnan(rows[:, POWER]))
        if unknown.size:
            rows[unknown, POWER] = measure_power(self._waves(unknown - count))
        loud = find_loud(rows[:, POWER], floor_db)[::every]
        if not loud.size:
            return SoundEvidence()
        # Of pauses nothing else is asked: their spectrum would be half of the work.
        unknown = loud[np.isnan(rows[loud, SPECTRUM.start])]
        if unknown.size:
            rows[unknown, SPECTRUM] = analyze_spectrum(self._waves(unknown - count))
        return summarize(rows[loud], loud, floor_db, every=every)

    def _shift_rows(self) -> None:
        """Makes room for the frames that have become whole since the last time."""
        end = (self._total - FRAME) // HOP + 1
        new = min(end - self._rows_end, _FRAMES)
        if new > 0:
            self._rows[: _FRAMES - new] = self._rows[new:]
            self._rows[_FRAMES - new :] = np.nan
            self._rows_end = end

    def _waves(self, frames: Positions) -> FloatArray:
        """Returns the samples of frames without their mean; positions are counted back from the newest, which is -1."""
        first, last = int(frames[0]), int(frames[-1])
        behind = self._total - (self._rows_end - 1) * HOP - FRAME
        samples = self.last_samples(behind + FRAME - (first + 1) * HOP)
        halves = samples[: (last - first) * HOP + FRAME].reshape(-1, HOP)
        waves = np.concatenate((halves[:-1], halves[1:]), axis=1)[frames - first].astype(np.float32)
        waves -= waves.sum(axis=1, keepdims=True) / FRAME
        return waves
