"""Speech for load tests: the offline voice at 8 kHz with a little line noise, trimmed to its start."""

from typing import Final

import numpy as np

from offhook.kit.audio import Samples
from offhook.models.providers.builtin.tts import synthesize_speech

RATE: Final = 8000
TEXT: Final = (
    "Hello there, I am calling about the order that I placed last week because it has not arrived yet "
    "and I would like to know when it will come please"
)


def clip(seconds: float) -> Samples:
    """Returns ``seconds`` of speech that starts at once and ends loud."""
    resampled = synthesize_speech(TEXT, voice="en-us", sample_rate=RATE).astype(np.int32)
    begin = int(np.argmax(np.abs(resampled) > 1500))
    cut = resampled[begin : begin + int(seconds * RATE)]
    end = cut.size - int(np.argmax(np.abs(cut[::-1]) > 1500))
    return (
        np.pad(cut[:end], (int(seconds * RATE) - end, 0)).astype(np.int16) if end < cut.size else cut.astype(np.int16)
    )


def noise(seconds: float, peak: int = 24) -> Samples:
    """Returns the quiet hiss of a real line, always the same."""
    return np.random.default_rng(1).integers(-peak, peak, int(seconds * RATE)).astype(np.int16)
