"""Vendors with fixed delays for load tests: endpointing 0.5 s, first token 0.1 s, 20 tokens at 10 ms, first byte 80 ms.

Their own cost counts as ours, so they do as little as a thin adapter would.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Final

from offhook.models.configuration.agent_languages import agent_languages
from offhook.models.ports import (
    CallModels,
    Expectation,
    LlmEvent,
    LlmRequest,
    LlmUsage,
    ModelRef,
    SttEvent,
    TextDelta,
)

ENDPOINTING_S: Final = 0.5
FIRST_TOKEN_S: Final = 0.1
TOKEN_S: Final = 0.01
FIRST_BYTE_S: Final = 0.08
VENDORS_MS: Final = (ENDPOINTING_S + FIRST_TOKEN_S + FIRST_BYTE_S) * 1000
TEXT: Final = "All right, I have noted that, and we will send you a short message as soon as it is on its way."
TOKENS: Final = TEXT.split()
CHUNK_S: Final = 0.2
CHARS_PER_S: Final = 48.0
LOUD: Final = 400
# What every caller is heard to say. A word takes so long, and is shown so late, as those of streaming vendors are
# (bench/turns/recognizer.py); without words the agent would have to guess whether it is interrupted.
SAID: Final = ("I", "have", "one", "more", "question", "about", "my", "last", "order")
WORD_S: Final = 0.35
WORD_DELAY_S: Final = 0.22


def pieces_of(text: str) -> int:
    """Returns how many pieces of ``CHUNK_S`` the speech of a text has: 48 characters a second keeps answers short."""
    return max(1, round(len(text) / CHARS_PER_S / CHUNK_S))


class BenchLlm:
    model_ref = ModelRef("llm", "bench", "bench")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        await asyncio.sleep(FIRST_TOKEN_S)
        for token in TOKENS:
            yield TextDelta(token + " ")
            await asyncio.sleep(TOKEN_S)
        yield LlmUsage(200, len(TOKENS))


class BenchTts:
    """Plays real speech, cut to the length of the text."""

    model_ref = ModelRef("tts", "bench", "bench")
    sample_rate = 8000

    def __init__(self, speech: bytes) -> None:
        self._speech = speech

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        await asyncio.sleep(FIRST_BYTE_S)
        step = int(CHUNK_S * self.sample_rate) * 2
        for index in range(pieces_of(text)):
            at = (index * step) % (len(self._speech) - step)
            yield self._speech[at : at + step]
            await asyncio.sleep(0.02)


class BenchStt:
    """Shows words while the caller speaks, and sends its final half a second after the last loud 20 ms."""

    model_ref = ModelRef("stt", "bench", "bench")
    has_endpointing = True
    judges_turns = False

    async def open_stream(self, *, sample_rate: int, language: str) -> "BenchSttStream":
        return BenchSttStream()


class BenchSttStream:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[SttEvent | None] = asyncio.Queue()
        self._loud_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._word_timer: asyncio.TimerHandle | None = None
        self._words = 0

    def push_audio(self, pcm: bytes) -> None:
        # a look at one sample of eight: an adapter of a vendor does not look at them at all
        if max(memoryview(pcm).cast("h")[::8], default=0) > LOUD:
            self.hear_speech()

    def hear_speech(self, began_s: float = 0.0, ended_s: float = 0.0) -> None:
        """Counts what has just come as speech, which began and ended so long ago: an endpoint is a matter of the sound, not
        of the messages that bring it."""
        now = self._loop.time()
        self._loud_at = now - ended_s
        if self._timer is None:
            self._timer = self._loop.call_at(self._loud_at + ENDPOINTING_S, self._look)
            self._word_timer = self._loop.call_at(now - began_s + WORD_S + WORD_DELAY_S, self._show_word)

    def _show_word(self) -> None:
        assert self._loud_at is not None
        has_ended = self._loop.time() - self._loud_at > WORD_DELAY_S
        if has_ended or self._words == len(SAID):
            return
        self._words += 1
        self._events.put_nowait(SttEvent("partial", " ".join(SAID[: self._words])))
        self._word_timer = self._loop.call_later(WORD_S, self._show_word)

    def _look(self) -> None:
        assert self._loud_at is not None
        due = self._loud_at + ENDPOINTING_S
        if self._loop.time() < due - 0.001:
            self._timer = self._loop.call_at(due, self._look)
            return
        self._timer, self._words = None, 0
        if self._word_timer is not None:
            self._word_timer.cancel()
        self._events.put_nowait(SttEvent("final", " ".join(SAID), 0.9, is_endpoint=True))

    def speech_started(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def speech_ended(self) -> None:
        """Does nothing: vendors with endpointing ignore it."""

    def set_expectation(self, expectation: Expectation) -> None:
        """Does nothing: key terms cost nothing here."""

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        self.stop()
        self._events.put_nowait(None)

    def stop(self) -> None:
        """Shows nothing more."""
        for timer in (self._timer, self._word_timer):
            if timer is not None:
                timer.cancel()


class BenchModels:
    """Replaces the model registry."""

    def __init__(self, speech_8k: bytes) -> None:
        self._models = CallModels(llm=(BenchLlm(),), tts=(BenchTts(speech_8k),), stt=(BenchStt(),))

    def for_call(self, configurations: Mapping[str, Any]) -> CallModels:
        languages = agent_languages(configurations)
        return replace(self._models, by_language=dict.fromkeys(languages, self._models))

    async def for_request(self, organization_id: int, note: str) -> CallModels:
        return await self.for_organization(organization_id, {})

    async def for_organization(self, organization_id: int, configurations: Mapping[str, Any]) -> CallModels:
        return self.for_call(configurations)

    async def warm(self) -> None:
        """Does nothing: there is nothing to load."""

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""
