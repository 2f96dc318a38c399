"""Detects the beep of an answering machine: a single pure tone for a moment, unlike any voice or ringing."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from offhook.kit.audio import Samples

WINDOW: Final = 256  # 32 ms at 8 kHz: 31 Hz a bin
# Beeps of answering machines lie between about 440 and 1,400 Hz; a ring is two tones, and a fax calls at 1,100 for
# longer.
MIN_HZ: Final = 420
MAX_HZ: Final = 2000
MIN_BEEP_S: Final = 0.15
MAX_BEEP_S: Final = 2.0
MIN_RMS: Final = 300.0  # RMS of int16: -41 dBFS
MIN_PURITY: Final = 0.9
_WINDOW_S: Final = WINDOW / 8000
_HANN: Final = np.hanning(WINDOW)


class BeepDetector:
    """Push int16 samples at 8 kHz of any length; ``on_beep`` is called when a beep has ended. 10 µs a window."""

    def __init__(self, on_beep: Callable[[], None]) -> None:
        self._on_beep = on_beep
        self._pending: Samples = np.zeros(0, np.int16)
        self._bin: int | None = None
        self._lasted_s = 0.0

    def push(self, samples: Samples) -> None:
        pending = np.concatenate((self._pending, samples))
        while pending.size >= WINDOW:
            tone = _find_tone_bin(pending[:WINDOW])
            pending = pending[WINDOW:]
            if tone is not None and self._bin is not None and abs(tone - self._bin) <= 1:
                self._lasted_s += _WINDOW_S
                continue
            lasted_s, self._bin, self._lasted_s = self._lasted_s, tone, _WINDOW_S if tone is not None else 0.0
            if MIN_BEEP_S <= lasted_s <= MAX_BEEP_S:
                self._on_beep()
        self._pending = pending


def _find_tone_bin(window: Samples) -> int | None:
    """Returns the bin of the only tone in the window, or None."""
    values: Any = window.astype(np.float64)
    if float(np.sqrt(np.mean(values**2))) < MIN_RMS:
        return None
    power = np.abs(np.fft.rfft((values - values.mean()) * _HANN)) ** 2
    peak = int(power.argmax())
    if not MIN_HZ <= peak * 8000 / WINDOW <= MAX_HZ:
        return None
    near = power[max(0, peak - 2) : peak + 3].sum()
    return peak if near >= MIN_PURITY * power.sum() else None
