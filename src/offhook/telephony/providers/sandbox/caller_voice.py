"""The voice of simulated callees: any TTS, converted to telephone audio."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import numpy as np
import soxr

from offhook.kit.audio import MULAW_8K
from offhook.models.ports import ModelError, Tts

# Phrases that callees of a campaign repeat; a few seconds of mu-law each.
MAX_CACHED_PHRASES: Final = 64


class TtsVoice:
    """Implements ``CallerVoice``. ``tts`` is created on first use, because models are loaded on demand."""

    def __init__(self, tts: Callable[[], Tts]) -> None:
        self._make = tts
        self._tts: Tts | None = None
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    async def synthesize(self, text: str) -> bytes:
        """Returns 8 kHz mu-law. A callee whose voice fails is silent for as long as the words would have taken."""
        kept = self._kept.get(text)
        if kept is not None:
            self._kept.move_to_end(text)
            return kept
        if self._tts is None:
            self._tts = self._make()
        try:
            pcm = b"".join([chunk async for chunk in self._tts.speak(text)])
        except ModelError:
            return MULAW_8K.silence_frame * (25 * max(1, len(text.split())))
        spoken = to_telephone(pcm, self._tts.sample_rate)
        self._kept[text] = spoken
        if len(self._kept) > MAX_CACHED_PHRASES:
            self._kept.popitem(last=False)
        return spoken


def to_telephone(pcm: bytes, sample_rate: int) -> bytes:
    """Converts little-endian PCM16 mono of any rate to 8 kHz mu-law."""
    samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2")
    if sample_rate != MULAW_8K.sample_rate:
        samples = soxr.resample(samples, sample_rate, MULAW_8K.sample_rate)
    return MULAW_8K.encode(samples.astype(np.int16))
