"""The offline voice: espeak-ng in one helper program for all calls of the process."""

import asyncio
import ctypes.util
import importlib.util
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from offhook.helpers import espeak
from offhook.kit.audio import Samples
from offhook.models.ports import ModelError, ModelRef
from offhook.models.providers.builtin.helper import HelperProgram

# espeak-ng's default is 175 words a minute; a little slower is clearer on a telephone.
WORDS_PER_MINUTE: Final = 165
PITCH: Final = 45
START_S: Final = 5.0
MAX_TEXT: Final = 4000


def find_espeak() -> tuple[str, str | None] | None:
    """(library, data folder) of the wheel, else of the system (data None = its own default); None = neither."""
    spec = importlib.util.find_spec("espeakng_loader")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        library, data = Path(folder) / "libespeak-ng.so", Path(folder) / "espeak-ng-data"
        if library.is_file() and data.is_dir():
            return str(library), str(data)
    system = ctypes.util.find_library("espeak-ng")
    return (system, None) if system else None


class EspeakEngine:
    """The helper program and everybody who waits for it. ``sample_rate`` is 22,050 Hz, as all of its voices."""

    sample_rate: Final = 22050

    def __init__(self) -> None:
        self._channels = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[tuple[int, bytes]]] = {}
        self._program: HelperProgram | None = None
        self._ready = asyncio.Event()

    async def start(self) -> None:
        """Start the program; ModelError when espeak-ng is missing or does not come up."""
        if self._program is None:
            found = find_espeak()
            if found is None:
                raise ModelError("tts_missing", "espeak-ng is not installed.", retryable=False)
            self._program = HelperProgram(
                "offhook.helpers.espeak", [found[0], found[1] or ""], on_frame=self._on_frame, on_death=self._on_death
            )
        try:
            async with asyncio.timeout(START_S):
                await self._program.ensure()
                await self._ready.wait()
        except (OSError, TimeoutError) as error:
            self._program.kill()
            raise ModelError("tts_unavailable", f"The offline voice does not start: {error}", retryable=True) from error

    def _on_frame(self, channel: int, kind: int, payload: bytes) -> None:
        if kind == espeak.READY:
            self._ready.set()
        elif (queue := self._waiting.get(channel)) is not None:
            queue.put_nowait((kind, payload))

    def _on_death(self) -> None:
        self._ready.clear()
        for queue in self._waiting.values():
            queue.put_nowait((espeak.FAILED, b"the voice program ended"))

    async def stream(self, kind: int, payload: bytes) -> AsyncIterator[tuple[int, bytes]]:
        """Frames that answer one order, up to DONE or IPA; closing the iterator cancels the order."""
        await self.start()
        assert self._program is not None
        channel = next(self._channels) & 0xFFFFFFFF
        queue: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        self._waiting[channel] = queue
        is_done = False
        try:
            self._program.send(channel, kind, payload)
            while not is_done:
                answer, data = await queue.get()
                is_done = answer != espeak.AUDIO
                if answer == espeak.FAILED:
                    raise ModelError("tts_failed", f"The offline voice failed: {data.decode()}", retryable=True)
                yield answer, data
        finally:
            del self._waiting[channel]
            if not is_done:
                self._program.send(channel, espeak.CANCEL)

    async def phonemes(self, words: list[str]) -> list[str]:
        """How words sound, as IPA."""
        async for _, data in self.stream(espeak.PHONEMES, "\n".join(words).encode()):
            return data.decode().split("\n")
        return []

    async def close(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._ready.clear()


class BuiltinTts:
    """Implements Tts. ``voice`` is an espeak-ng voice name such as ``en-us`` or ``en-us+f3``."""

    sample_rate = EspeakEngine.sample_rate

    def __init__(
        self, engine: EspeakEngine, *, voice: str = "en-us", rate: int = WORDS_PER_MINUTE, pitch: int = PITCH
    ) -> None:
        self._engine = engine
        self._voice = voice
        self._rate = rate
        self._pitch = pitch
        self.ref = ModelRef("tts", "builtin", "espeak-ng")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        order: dict[str, Any] = {
            "text": speakable(text),
            "voice": self._voice,
            "rate": self._rate,
            "pitch": self._pitch,
        }
        async for kind, data in self._engine.stream(espeak.SPEAK, json.dumps(order).encode()):
            if kind == espeak.AUDIO:
                yield data

    async def synthesize(self, text: str, *, sample_rate: int) -> Samples:
        """A whole sentence at once, resampled (simulated phones, load tests)."""
        pcm = b"".join([chunk async for chunk in self.speak(text)])
        samples = np.frombuffer(pcm, "<i2")
        resampled: Samples = soxr.resample(samples, self.sample_rate, sample_rate, quality="HQ")
        return resampled


def speakable(text: str) -> str:
    """Text without what a voice would stumble over: markup, control characters, endless length."""
    cleaned = "".join(" " if ord(c) < 32 or c in "*_#`<>|[]{}" else c for c in text[:MAX_TEXT])
    return " ".join(cleaned.split())
