"""Computes Whisper's input features: a logarithmic mel spectrogram, as transformers' ``WhisperFeatureExtractor`` computes it.

With ``chunk_length=8`` and ``do_normalize=True``, which is what Smart Turn v3 was trained on: 8 s at 16 kHz with zeros
in front of shorter audio, brought to a mean of 0 and a variance of 1 over all of it; frames of 400 samples every 160,
mirrored at both ends; 80 mel bands on Slaney's scale.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

RATE: Final = 16_000
WINDOW_S: Final = 8
WINDOW: Final = WINDOW_S * RATE
MELS: Final = 80
HOP: Final = 160
FRAMES: Final = WINDOW // HOP
_FFT: Final = 400
_BINS: Final = _FFT // 2 + 1
# Slaney's scale: bands of 200/3 Hz up to 1 kHz, and 27 of them for each 6.4-fold above.
_LINEAR_HZ: Final = 200 / 3
_LOG_FROM_HZ: Final = 1000.0
_LOG_STEP: Final = np.log(6.4) / 27
_SMALLEST: Final = 1e-10
# In powers of ten, below the loudest value.
_RANGE: Final = 8.0
FloatArray = NDArray[np.float32]


def whisper_features(audio: FloatArray) -> FloatArray:
    """Returns the features (80, 800) of the last 8 s of audio at 16 kHz, whose samples are within ±1."""
    window, bands = _tables()
    wave = np.zeros(WINDOW, np.float32)
    tail = audio[-WINDOW:]
    wave[WINDOW - tail.size :] = tail
    wave = (wave - wave.mean(dtype=np.float64)) / np.sqrt(wave.var(dtype=np.float64) + 1e-7)
    mirrored = np.pad(wave.astype(np.float32), _FFT // 2, mode="reflect")
    # one frame more than wanted would fit
    frames = np.lib.stride_tricks.sliding_window_view(mirrored, _FFT)[: FRAMES * HOP : HOP]
    spectrum = np.fft.rfft(frames * window, axis=1).T
    power = np.ascontiguousarray(spectrum.real**2 + spectrum.imag**2)
    sums = np.empty((MELS, FRAMES))
    for band, (first, weights) in enumerate(bands):
        # a product of matrices would wake a thread of the BLAS library on every core
        np.einsum("b,bf->f", weights, power[first : first + weights.size], out=sums[band])
    levels = np.log10(np.maximum(sums, _SMALLEST))
    features: FloatArray = ((np.maximum(levels, levels.max() - _RANGE) + 4) / 4).astype(np.float32)
    return features


@cache
def _tables() -> tuple[NDArray[np.float64], list[tuple[int, NDArray[np.float64]]]]:
    """Returns the window of a frame, and of each band its first bin and the weights from there on."""
    window = np.hanning(_FFT + 1)[:-1]
    top = _to_mel(RATE / 2)
    edges = _to_hz(np.linspace(0, top, MELS + 2))
    bins = np.linspace(0, RATE / 2, _BINS)[:, None]
    rising = (bins - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - bins) / np.diff(edges)[1:]
    filters = np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))
    return window, [(int(used[0]), weights[used]) for weights in filters.T if (used := np.flatnonzero(weights)).size]


def _to_mel(hz: float) -> float:
    """Returns where a frequency above 1 kHz is on the scale."""
    return float(_LOG_FROM_HZ / _LINEAR_HZ + np.log(hz / _LOG_FROM_HZ) / _LOG_STEP)


def _to_hz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    log_from = _LOG_FROM_HZ / _LINEAR_HZ
    above: NDArray[np.float64] = _LOG_FROM_HZ * np.exp(_LOG_STEP * (mels - log_from))
    return np.where(mels < log_from, mels * _LINEAR_HZ, above)
