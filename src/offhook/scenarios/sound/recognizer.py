"""A streaming recognizer that gets the caller's words from the scenario, and reports them as late as a vendor's does.

Delays are those that vendors of streaming recognition publish or show: a word is in an interim transcript 0.15 to 0.45 s
after its end, and an endpoint comes 0.3 s of silence after the last word. Fillers are dropped.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import numpy as np

from offhook.models.ports import Expectation, ModelRef, SttEvent
from offhook.scenarios.sound.clips import SpokenWord

ENDPOINT_S: Final = 0.3
FILLERS: Final = frozenset({"um", "uh", "er", "hmm"})


class StreamingRecognizer:
    """Implements Stt for one call. The same ``random`` gives the same delays."""

    has_endpointing = True
    judges_turns = False

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.streams: list[RecognizerStream] = []
        # what the agent expects to hear now
        self.expectation = Expectation()

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", "emulated", "streaming")

    async def open_stream(self, *, sample_rate: int, language: str) -> "RecognizerStream":
        stream = RecognizerStream(self)
        self.streams.append(stream)
        return stream

    def hear_words(self, words: Sequence[SpokenWord], starts_at: float, *, is_distant: bool = False) -> None:
        """Tells the open stream that words begin at a loop time."""
        if self.streams:
            self.streams[-1].hear_words(words, starts_at, is_distant=is_distant)

    def transcribe(self, word: SpokenWord, *, is_distant: bool) -> str:
        """Returns what a word is heard as; nothing for a filler."""
        return "" if word.text.lower().strip(",.") in FILLERS else word.text

    def endpoint_wait_s(self) -> float:
        """Returns the silence after which this word may end the turn."""
        return ENDPOINT_S

    def word_delay_s(self) -> float:
        return float(np.clip(self.random.lognormal(np.log(0.22), 0.3), 0.12, 0.6))


class RecognizerStream:
    """Implements SttStream."""

    def __init__(self, recognizer: StreamingRecognizer) -> None:
        self._recognizer = recognizer
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[SttEvent | None] = asyncio.Queue()
        self._words: list[str] = []
        self._timers: list[asyncio.TimerHandle] = []

    def hear_words(self, words: Sequence[SpokenWord], starts_at: float, *, is_distant: bool) -> None:
        recognizer = self._recognizer
        shown_at = 0.0
        for index, word in enumerate(words):
            text = recognizer.transcribe(word, is_distant=is_distant)
            # never at the same time: timers have no order then
            shown_at = max(shown_at + 0.001, starts_at + word.end_s + recognizer.word_delay_s())
            if text:
                self._timers.append(self._loop.call_at(shown_at, self._show, text))
            silence_s = words[index + 1].start_s - word.end_s if index + 1 < len(words) else np.inf
            wait_s = recognizer.endpoint_wait_s()
            if silence_s >= wait_s:
                ends_at = max(shown_at + 0.02, starts_at + word.end_s + wait_s + recognizer.word_delay_s())
                self._timers.append(self._loop.call_at(ends_at, self._finish))

    def _show(self, text: str) -> None:
        self._words.append(text)
        self._events.put_nowait(SttEvent("partial", " ".join(self._words)))

    def _finish(self) -> None:
        text, self._words = " ".join(self._words), []
        if text:
            self._events.put_nowait(SttEvent("final", text, 0.9, is_endpoint=True))

    def push_audio(self, pcm: bytes) -> None:
        """Does nothing: the words come from the scenario."""

    def speech_started(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def speech_ended(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def set_expectation(self, expectation: Expectation) -> None:
        self._recognizer.expectation = expectation

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._events.put_nowait(None)
