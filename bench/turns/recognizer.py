"""A streaming recognizer that is emulated: it is told what the caller says, and reports it late and with errors.

Delays and errors are those that vendors of streaming recognition publish or show: a word is in an interim transcript 0.15
to 0.45 s after its end, an endpoint comes 0.3 s of silence after the last word (1 s of text without news in noise), one
word in twenty is wrong, fillers are dropped, a cough is seldom a word and distant speech is heard badly.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bench.turns.clips import Clip, SpokenWord
from offhook.models.ports import Expectation, ModelRef, SttEvent

ENDPOINT_S: Final = 0.3
NOISY_ENDPOINT_S: Final = 1.0
FILLERS: Final = frozenset({"um", "uh", "er", "hmm"})
HEARD_AS: Final = {"mm-hmm": ("Mm-hmm.", "Mhmm", "mm hmm", ""), "mhm": ("Mhm", "Mm", "Mhmm.", "")}
WRONG_WORDS: Final = ("the", "it", "and", "in", "too", "on", "there", "a")


@dataclass
class VendorEmulator:
    """Implements Stt for one call. ``errors`` scales its error rates; ``noise_db`` is the line's babble, if any."""

    random: np.random.Generator
    noise_db: float | None = None
    errors: float = 1.0
    has_endpointing: bool = True
    streams: list["EmulatedStream"] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", "emulated", "streaming")

    async def open_stream(self, *, sample_rate: int, language: str) -> "EmulatedStream":
        stream = EmulatedStream(self)
        self.streams.append(stream)
        return stream

    def hear(self, clip: Clip, starts_at: float, *, is_distant: bool = False, is_cough: bool = False) -> None:
        """Tells the open stream that a clip begins at a loop time."""
        if self.streams:
            self.streams[-1].hear(clip, starts_at, is_distant=is_distant, is_cough=is_cough)

    def transcribe(self, word: SpokenWord, *, is_distant: bool) -> str:
        plain, dice = word.text.lower(), self.random.random()
        if plain in FILLERS:
            return "" if dice < 0.7 else word.text
        if plain in HEARD_AS:
            return str(self.random.choice(HEARD_AS[plain]))
        rate = (0.3 if is_distant else 0.05) * self.errors * (1.6 if (self.noise_db or 99) < 13 else 1.0)
        if dice < rate * 0.5:
            return ""
        return str(self.random.choice(WRONG_WORDS)) if dice < rate else word.text

    def word_delay_s(self) -> float:
        return float(np.clip(self.random.lognormal(np.log(0.22), 0.3), 0.12, 0.6))


class EmulatedStream:
    """Implements SttStream."""

    def __init__(self, vendor: VendorEmulator) -> None:
        self._vendor = vendor
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[SttEvent | None] = asyncio.Queue()
        self._words: list[str] = []
        self._timers: list[asyncio.TimerHandle] = []

    def hear(self, clip: Clip, starts_at: float, *, is_distant: bool, is_cough: bool) -> None:
        random = self._vendor.random
        words = clip.words
        if is_cough and random.random() < 0.06 * self._vendor.errors:
            words = (SpokenWord("Oh", 0.0, clip.seconds),)
        shown_at = 0.0
        for index, word in enumerate(words):
            text = self._vendor.transcribe(word, is_distant=is_distant)
            shown_at = max(shown_at, starts_at + word.end_s + self._vendor.word_delay_s())
            if text:
                self._timers.append(self._loop.call_at(shown_at, self._show, text))
            silence_s = words[index + 1].start_s - word.end_s if index + 1 < len(words) else np.inf
            wait = ENDPOINT_S
            if self._vendor.noise_db is not None and random.random() < 0.5:
                wait = NOISY_ENDPOINT_S
            if silence_s >= wait:
                ends_at = max(shown_at + 0.02, starts_at + word.end_s + wait + self._vendor.word_delay_s())
                self._timers.append(self._loop.call_at(ends_at, self._finish))

    def _show(self, text: str) -> None:
        self._words.append(text)
        self._events.put_nowait(SttEvent("partial", " ".join(self._words)))

    def _finish(self) -> None:
        text, self._words = " ".join(self._words), []
        if text:
            self._events.put_nowait(SttEvent("final", text, 0.9, is_endpoint=True))

    def push_audio(self, pcm: bytes) -> None:
        """Does nothing: what is said is told."""

    def speech_started(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def speech_ended(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def set_expectation(self, expectation: Expectation) -> None:
        """Does nothing: key terms do not help an emulator."""

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._events.put_nowait(None)
