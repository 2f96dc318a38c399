"""Measures a short stretch of the caller's sound: voiced or breath, a hum or words, near or turned away.

Plain signal processing on at most a second of 8 kHz audio, a fifth of a millisecond; done a few times per overlap.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import Samples

RATE: Final = 8000
FRAME: Final = 256
HOP: Final = 128
# Pitch of people, in samples of its period: 400 to 70 Hz.
MIN_LAG: Final = 20
MAX_LAG: Final = 114
VOICED_CORRELATION: Final = 0.45
# Frames this far below the loudest are pauses.
LOUD_RANGE_DB: Final = 18.0
# Bounds of the bands that tell a hum from a vowel and a near voice from a muffled one, in bins of 31.25 Hz.
_LOW: Final = slice(3, 29)
_HIGH: Final = slice(38, 109)
_BANDS: Final = (3, 8, 13, 19, 26, 35, 47, 65, 100)
HUM_DB: Final = -17.0
FloatArray = NDArray[np.floating[Any]]
Positions = NDArray[np.intp]
_FRAME_WINDOW: Final = np.hanning(FRAME).astype(np.float32)
# A correlation over fewer samples at longer lags, made up for.
_TAPER: Final = ((1 - np.arange(MAX_LAG + 1) / FRAME) ** 1.5).astype(np.float32)


@dataclass(frozen=True, slots=True)
class SoundEvidence:
    """``voiced`` is the share of loud frames that have a pitch, ``tilt_db`` the energy above 1.2 kHz against that
    below 0.9, ``hum`` the share of loud frames without the former; ``change_db`` is by how much the spectrum changes
    from frame to frame, small in a drawn-out sound and large in fluent speech; ``pitch_slope`` is in octaves per second
    over the last voiced stretch, ``last_voiced_s`` its length.
    """

    loud_s: float = 0.0
    level_db: float = -90.0
    voiced: float = 0.0
    tilt_db: float = 0.0
    hum: float = 0.0
    change_db: float = 0.0
    pitch_slope: float = 0.0
    last_voiced_s: float = 0.0


def measure_sound(samples: Samples, floor_db: float = -90.0) -> SoundEvidence:
    """Measures a stretch that begins where the caller began to speak."""
    count = (samples.size - FRAME) // HOP + 1
    if count < 2:
        return SoundEvidence()
    frames = np.lib.stride_tricks.sliding_window_view(samples, FRAME)[::HOP].astype(np.float32)
    frames -= frames.mean(axis=1, keepdims=True)
    levels = 10 * np.log10(np.maximum(np.einsum("ij,ij->i", frames, frames) / FRAME, 1.0)) - 90.3
    loud = np.flatnonzero((levels >= levels.max() - LOUD_RANGE_DB) & (levels >= floor_db + 6))
    if not loud.size:
        return SoundEvidence()
    # Of pauses nothing else is asked: their spectrum would be half of the work.
    waves = np.fft.rfft(frames[loud] * _FRAME_WINDOW, 2 * FRAME, axis=1)
    spectrum = waves.real**2 + waves.imag**2
    correlation = np.fft.irfft(spectrum, axis=1)[:, : MAX_LAG + 1]
    correlation /= np.maximum(correlation[:, :1], 1e-9)
    correlation /= _TAPER
    lags = MIN_LAG + correlation[:, MIN_LAG:].argmax(axis=1)
    is_voiced = correlation[np.arange(lags.size), lags] >= VOICED_CORRELATION
    halves = spectrum[:, ::2]
    low, high = halves[:, _LOW].sum(axis=1), halves[:, _HIGH].sum(axis=1)
    tilts = 10 * np.log10(np.maximum(high, 1e-9) / np.maximum(low, 1e-9))
    slope, last_s = _last_pitch(loud[is_voiced], RATE / lags[is_voiced])
    return SoundEvidence(
        loud_s=loud.size * HOP / RATE,
        level_db=10 * float(np.log10(np.maximum((10 ** (levels[loud] / 10)).mean(), 1e-9))),
        voiced=float(is_voiced.mean()),
        tilt_db=10 * math.log10(max(float(high.sum()), 1e-9) / max(float(low.sum()), 1e-9)),
        hum=float((tilts < HUM_DB).mean()),
        change_db=_change_of_spectrum(halves, loud, floor_db),
        pitch_slope=slope,
        last_voiced_s=last_s,
    )


def _change_of_spectrum(spectrum: FloatArray, loud: Positions, floor_db: float) -> float:
    """Returns the mean change of eight bands between neighboring loud frames, apart from that of the loudness."""
    are_neighbors = np.diff(loud) == 1
    if not are_neighbors.any():
        return 0.0
    floor = max(1e4, 10 ** ((floor_db + 90.3) / 10) * FRAME * FRAME / 64)
    bands = 10 * np.log10(np.add.reduceat(spectrum[:, : _BANDS[-1]], _BANDS[:-1], axis=1) + floor)
    bands -= bands.mean(axis=1, keepdims=True)
    return float(np.abs(np.diff(bands, axis=0)).mean(axis=1)[are_neighbors].mean())


def _last_pitch(voiced: Positions, pitch: FloatArray) -> tuple[float, float]:
    """Returns the slope of the last voiced stretch in octaves per second, and its length in seconds. ``pitch`` is that
    of the frames at the positions ``voiced``."""
    if voiced.size < 3:
        return 0.0, voiced.size * HOP / RATE
    breaks = np.flatnonzero(np.diff(voiced) > 2)
    begin = int(breaks[-1]) + 1 if breaks.size else 0
    length_s = (voiced.size - begin) * HOP / RATE
    tail = slice(max(begin, voiced.size - 12), None)
    octaves = np.log2(pitch[tail])
    if octaves.size < 4:
        return 0.0, length_s
    steady = np.abs(octaves - np.median(octaves)) < 0.4
    if steady.sum() < 4:
        return 0.0, length_s
    at, octaves = voiced[tail][steady] * (HOP / RATE), octaves[steady]
    at -= at.mean()
    return float(at @ octaves / (at @ at)), length_s
