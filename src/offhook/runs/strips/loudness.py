"""The loudness of a stereo recording over time, as few bars of equal length. Pure but for reading the file."""

import wave
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

# Twice as many as the widest page draws.
BARS: Final = 720
# Frames read at a time: four megabytes, however long the call was.
_BLOCK_FRAMES: Final = 1 << 20
_FULL_SCALE: Final = 32768.0
_LOUDEST_BAR: Final = 255


@dataclass(frozen=True, slots=True)
class Loudness:
    """The loudness of each bar, 0 to 255, one byte each; ``seconds`` is the length of the recording."""

    seconds: float
    caller: bytes
    agent: bytes


def measure_loudness(source: BinaryIO) -> Loudness | None:
    """Measures a PCM16 WAV with the caller left and the agent right; None for a file without sound or of another kind.

    Raises OSError when the file cannot be read.
    """
    try:
        with wave.open(source) as file:
            frames, channels = file.getnframes(), file.getnchannels()
            if file.getsampwidth() != 2 or channels > 2 or frames == 0:
                return None
            bars = min(BARS, frames)
            energy = np.zeros((bars, channels))
            edges = np.linspace(0, frames, bars + 1).astype(np.int64)
            for bar in range(bars):
                energy[bar] = _mean_square(file, int(edges[bar + 1] - edges[bar]), channels)
            seconds = frames / file.getframerate()
    except (wave.Error, EOFError):
        return None
    # The root of the effective value: what looks as loud as it sounds, and a whisper is not one of 255 steps.
    levels = np.ceil(np.sqrt(np.sqrt(energy) / _FULL_SCALE) * _LOUDEST_BAR).astype(np.uint8)
    return Loudness(round(seconds, 3), levels[:, 0].tobytes(), levels[:, -1].tobytes())


def _mean_square(file: wave.Wave_read, frames: int, channels: int) -> npt.NDArray[np.float64]:
    total = np.zeros(channels)
    left = frames
    while left > 0:
        samples = np.frombuffer(file.readframes(min(_BLOCK_FRAMES, left)), "<i2")
        samples = samples[: len(samples) - len(samples) % channels].reshape(-1, channels)
        if not len(samples):  # shorter than its header says
            break
        total += np.square(samples, dtype=np.float64).sum(axis=0)
        left -= len(samples)
    return total / frames


def reduce_bars(levels: bytes, bars: int) -> list[int]:
    """Returns at most ``bars`` levels, each the mean of the ones that it stands for."""
    values = np.frombuffer(levels, np.uint8)
    if len(values) <= bars:
        return [int(value) for value in values]
    edges = np.linspace(0, len(values), bars + 1).astype(np.int64)
    sums = np.add.reduceat(values, edges[:-1], dtype=np.int64)
    return [int(value) for value in -(-sums // np.diff(edges))]
