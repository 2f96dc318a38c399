"""What a caller says as sound at 8 kHz, and where its words are. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from offhook.kit.audio import MULAW_8K, Samples

RATE: Final = MULAW_8K.sample_rate
# About -20 dBFS, the usual loudness of telephone speech.
SPEECH_RMS: Final = 2600.0


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word with the seconds at which it begins and ends within its clip."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Clip:
    """``pauses`` are the hesitations within it, in seconds from its start."""

    samples: Samples
    words: tuple[SpokenWord, ...]
    pauses: tuple[tuple[float, float], ...] = ()

    @property
    def seconds(self) -> float:
        return self.samples.size / RATE


def place_words(words: Sequence[str], samples: Samples, offset_s: float) -> list[SpokenWord]:
    """Estimates where each word is: by its letters, over the whole clip."""
    weights = np.array([len(word) + 1.5 for word in words])
    ends = np.cumsum(weights) / weights.sum() * samples.size / RATE + offset_s
    starts = np.concatenate(([offset_s], ends[:-1]))
    return [SpokenWord(word, float(a), float(b)) for word, a, b in zip(words, starts, ends, strict=True)]


def at_level(samples: Samples, rms: float) -> Samples:
    loud = samples[np.abs(samples) > np.abs(samples).max(initial=0) * 0.05].astype(np.float64)
    now = float(np.sqrt(np.mean(loud**2))) if loud.size else 1.0
    return np.clip(samples.astype(np.float64) * (rms / now), -32768, 32767).astype(np.int16)


def trim_silence(samples: Samples) -> Samples:
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 300)
    return samples[loud[0] : loud[-1] + 1] if loud.size else samples
