"""Measures the caller's sound in frames of 32 ms: voiced or breath, a hum or words, near or turned away.

Plain signal processing: what can be said of one frame, and of a stretch of them. ``RecentSound`` keeps the frames.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RATE: Final = 8000
FRAME: Final = 256
HOP: Final = 128
# Pitch of people, in samples of its period: 400 to 70 Hz.
MIN_LAG: Final = 20
MAX_LAG: Final = 114
VOICED_CORRELATION: Final = 0.45
# Frames this far below the loudest are pauses, and those that are not this far above the floor of the noise.
LOUD_RANGE_DB: Final = 18.0
LOUD_MARGIN_DB: Final = 6.0
HUM_DB: Final = -17.0
# What is kept of a frame, a column for each: its power, whether it has a pitch, whether it is a hum, the energy of two
# bands that tell a hum from a vowel and a near voice from a muffled one, and that of eight in which change is heard.
POWER, VOICED, HUM, LOW, HIGH = range(5)
BANDS: Final = slice(5, 13)
SPECTRUM: Final = slice(VOICED, 13)
COLUMNS: Final = 13
FloatArray = NDArray[np.floating[Any]]
Positions = NDArray[np.intp]
_LOUD_RANGE: Final = 10 ** (-LOUD_RANGE_DB / 10)
_HUM: Final = 10 ** (HUM_DB / 10)
_FRAME_WINDOW: Final = np.hanning(FRAME).astype(np.float32)
# A correlation over fewer samples at longer lags, made up for.
_LAG_WEIGHTS: Final = ((1 - np.arange(MIN_LAG, MAX_LAG + 1) / FRAME) ** -1.5).astype(np.float32)


# Of a frame that is padded to twice its length every other bin says all; they are 31.25 Hz apart.
_FIRST_BIN: Final = 3
_BIN_END: Final = 109
_BINS: Final = slice(2 * _FIRST_BIN, 2 * _BIN_END, 2)


def _band_weights() -> FloatArray:
    """Returns the matrix that sums the bins ``_BINS`` to the columns from ``LOW`` on."""
    bounds = (3, 8, 13, 19, 26, 35, 47, 65, 100)
    weights = np.zeros((_BIN_END - _FIRST_BIN, COLUMNS - LOW), np.float32)
    for column, (low, high) in enumerate([(3, 29), (38, 109), *pairwise(bounds)]):
        weights[low - _FIRST_BIN : high - _FIRST_BIN, column] = 1
    return weights


_BAND_WEIGHTS: Final = _band_weights()
# Takes the mean of the bands off each of them.
_CENTERED: Final = (np.eye(8) - 1 / 8).astype(np.float32)


@dataclass(frozen=True, slots=True)
class SoundEvidence:
    """``voiced`` is the share of loud frames that have a pitch, ``tilt_db`` the energy above 1.2 kHz against that
    below 0.9, ``hum`` the share of loud frames without the former; ``change_db`` is by how much the spectrum changes
    from frame to frame, small in a drawn-out sound and large in fluent speech.
    """

    loud_s: float = 0.0
    level_db: float = -90.0
    voiced: float = 0.0
    tilt_db: float = 0.0
    hum: float = 0.0
    change_db: float = 0.0


def measure_power(waves: FloatArray) -> FloatArray:
    """Returns the power of frames; their mean is 0."""
    power: FloatArray = np.einsum("ij,ij->i", waves, waves) / FRAME
    return power


def find_loud(power: FloatArray, floor_db: float) -> Positions:
    """Returns the positions of the frames that are no pauses."""
    return np.flatnonzero(power >= max(float(power.max()) * _LOUD_RANGE, _power(floor_db + LOUD_MARGIN_DB)))


def analyze_spectrum(waves: FloatArray) -> FloatArray:
    """Returns the columns ``SPECTRUM`` of frames."""
    transform = np.fft.rfft(waves * _FRAME_WINDOW, 2 * FRAME, axis=1)
    # Complex although it is real: the inverse transform takes seven times as long where it has to convert it.
    spectrum = transform * transform.conj()
    correlation = np.fft.irfft(spectrum, axis=1)
    peaks = (correlation[:, MIN_LAG : MAX_LAG + 1] * _LAG_WEIGHTS).max(axis=1)
    columns = np.empty((len(waves), COLUMNS - VOICED), np.float32)
    columns[:, LOW - VOICED :] = bands = spectrum.real[:, _BINS] @ _BAND_WEIGHTS
    columns[:, VOICED - VOICED] = peaks >= VOICED_CORRELATION * np.maximum(correlation[:, 0], 1e-9)
    columns[:, HUM - VOICED] = bands[:, 1] < _HUM * bands[:, 0]
    return columns


def summarize(rows: FloatArray, positions: Positions, floor_db: float, *, every: int = 1) -> SoundEvidence:
    """Returns what the loud frames of a stretch say, of which there is at least one; ``rows`` has one in ``every``."""
    power, voiced, hum, low, high = rows[:, : BANDS.start].mean(axis=0, dtype=np.float64).tolist()
    return SoundEvidence(
        loud_s=len(rows) * every * HOP / RATE,
        level_db=10 * math.log10(max(power, 1e-9)) - 90.3,
        voiced=voiced,
        tilt_db=10 * math.log10(max(high, 1e-9) / max(low, 1e-9)),
        hum=hum,
        change_db=_change_of_spectrum(rows[:, BANDS], positions, floor_db),
    )


def _change_of_spectrum(bands: FloatArray, positions: Positions, floor_db: float) -> float:
    """Returns the mean change of the bands between neighboring frames, apart from that of the loudness."""
    are_neighbors = positions[1:] - positions[:-1] == 1
    if not are_neighbors.any():
        return 0.0
    levels = np.log10(bands + max(1e4, _power(floor_db) * FRAME * FRAME / 64))
    changes = (levels[1:] - levels[:-1])[are_neighbors] @ _CENTERED
    return 10 * float(np.abs(changes).mean())


def _power(level_db: float) -> float:
    return float(10 ** ((level_db + 90.3) / 10))
