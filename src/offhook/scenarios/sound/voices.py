"""The offline voice on virtual time, for agents and callers: each text sounds the same in every play."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Final

import numpy as np

from offhook.kit.audio import Samples
from offhook.models.ports import ModelRef
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BlockingSynthesizer
from offhook.scenarios.sound.clips import RATE

# An hour of speech; a sentence takes 20 ms to synthesize, and a suite repeats most of them.
MAX_KEPT_BYTES: Final = 2 * RATE * 3600
# What vendors of streaming voices take to the first sound, and their chunks.
FIRST_BYTE_S: Final = 0.15
CHUNK_S: Final = 0.1
CHUNK_TAKES_S: Final = 0.005


class OfflineVoice:
    """Speech at 8 kHz by text, voice and speed."""

    def __init__(self) -> None:
        self._synthesizer = BlockingSynthesizer()
        self._kept: OrderedDict[tuple[str, str, float], Samples] = OrderedDict()
        self._kept_bytes = 0

    def synthesize(self, text: str, *, voice: str = DEFAULT_VOICE, speed: float = 1.0) -> Samples:
        """Returns the whole text; blocks, so that virtual time stands still. Raises ModelError."""
        key = (text, voice, speed)
        samples = self._kept.get(key)
        if samples is None:
            samples = self._synthesizer.synthesize(text, voice=voice, sample_rate=RATE, speed=speed)
            self._kept[key] = samples
            self._kept_bytes += samples.nbytes
            while self._kept_bytes > MAX_KEPT_BYTES and len(self._kept) > 1:
                self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes
        self._kept.move_to_end(key)
        return samples

    def close(self) -> None:
        """Ends the voice's program."""
        self._synthesizer.close()


class AgentVoice:
    """Implements Tts for one call: the offline voice, with a streaming vendor's delays."""

    sample_rate = RATE

    def __init__(self, voice: OfflineVoice) -> None:
        self._voice = voice

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("tts", "builtin", "espeak-ng")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        samples = self._voice.synthesize(text)
        await asyncio.sleep(FIRST_BYTE_S)
        for chunk in np.array_split(samples, range(int(CHUNK_S * RATE), samples.size, int(CHUNK_S * RATE))):
            yield chunk.tobytes()
            await asyncio.sleep(CHUNK_TAKES_S)
