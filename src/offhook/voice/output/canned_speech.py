"""Fixed phrases as audio, so that emergencies need no vendor."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from offhook.kit.audio import Codec, Resampler, Samples
from offhook.models.ports import ModelError, Tts
from offhook.voice.output.voice_level import level_whole


class CannedSpeech:
    """Watchdog phrases as audio, synthesized once per voice and process, so that emergencies need no vendor."""

    _of_tts: ClassVar["WeakKeyDictionary[Tts, dict[str, Samples]]"] = WeakKeyDictionary()

    def __init__(self, tts: Tts, codec: Codec, level_db: float | None = None) -> None:
        """``level_db`` is the level of the agent's speech in dBFS; None leaves it as it is."""
        self._tts = tts
        self._codec = codec
        self._level_db = level_db
        self._cache = self._of_tts.setdefault(tts, {})

    def get(self, text: str) -> bytes | None:
        samples = self._cache.get(self._key(text))
        return None if samples is None else self._codec.encode(samples)

    async def prepare(self, texts: Sequence[str]) -> None:
        """Synthesizes missing phrases; a vendor that fails now is retried by the next call."""
        for text in texts:
            key = self._key(text)
            if key in self._cache:
                continue
            resampler = Resampler(self._tts.sample_rate, self._codec.sample_rate)
            try:
                async with asyncio.timeout(10):
                    parts = [resampler.push(chunk) async for chunk in self._tts.speak(text)]
            except (ModelError, TimeoutError):
                return
            speech = np.concatenate([*parts, resampler.push(b"", is_last=True)])
            self._cache[key] = level_whole(speech, self._level_db, self._codec.sample_rate)

    def _key(self, text: str) -> str:
        return f"{self._codec.sample_rate}:{self._level_db}:{text}"
