"""Models that follow a script: real implementations of the ports on the loop's own time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from offhook.models.ports import (
    Expectation,
    LlmEvent,
    LlmRequest,
    LlmUsage,
    ModelError,
    ModelRef,
    SttEvent,
    TextDelta,
    ToolCall,
    ToolCalled,
)

NEVER = 10_000.0


@dataclass(frozen=True)
class Reply:
    """One answer of the model: text word by word, then tool calls by name; or a failure, at a point."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    first_token_s: float = 0.1
    word_s: float = 0.01
    fails: ModelError | None = None
    hangs_after_words: int | None = None


def says(text: str, *tools: str, **arguments: Any) -> Reply:
    return Reply(text, tuple((tool, arguments) for tool in tools))


def takes(*tools: str) -> Reply:
    return Reply("", tuple((tool, {}) for tool in tools))


def calls(tool: str, **arguments: Any) -> Reply:
    """One tool call with its arguments and no words."""
    return Reply("", ((tool, arguments),))


@dataclass(eq=False)
class ScriptedLlm:
    """Implements Llm: each request takes the next reply; past the end it repeats ``afterwards``.

    ``requests`` keeps what was asked. Extraction requests (with a response schema) answer ``extracts``.
    """

    script: Sequence[Reply]
    afterwards: Reply = field(default_factory=lambda: Reply("Is there anything else?"))
    extracts: str = "{}"
    provider: str = "scripted"
    requests: list[LlmRequest] = field(default_factory=list)
    extractions: list[LlmRequest] = field(default_factory=list)
    extracting_fails: ModelError | None = None
    _next: int = 0
    _calls: int = 0

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", self.provider, "script")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        if request.response_schema is not None:
            self.extractions.append(request)
            if self.extracting_fails is not None:
                raise self.extracting_fails
            yield TextDelta(self.extracts)
            return
        self.requests.append(request)
        reply = self.script[self._next] if self._next < len(self.script) else self.afterwards
        self._next += 1
        await asyncio.sleep(reply.first_token_s)
        words = reply.text.split(" ") if reply.text else []
        for index, word in enumerate(words):
            if reply.hangs_after_words == index:
                await asyncio.sleep(NEVER)
            yield TextDelta(word + (" " if index + 1 < len(words) else ""))
            await asyncio.sleep(reply.word_s)
        if reply.hangs_after_words is not None:
            await asyncio.sleep(NEVER)
        if reply.fails is not None:
            raise reply.fails
        for name, arguments in reply.calls:
            self._calls += 1
            yield ToolCalled(ToolCall(f"call_{self._calls}", name, arguments))
        yield LlmUsage(10, len(words))


@dataclass(eq=False)
class ScriptedTts:
    """Implements Tts: a loud tone of 60 ms a character in chunks of 100 ms, faster than real time."""

    provider: str = "scripted"
    sample_rate: int = 8000
    first_byte_s: float = 0.08
    chunk_s: float = 0.01
    s_per_char: float = 0.06
    fails_on: Callable[[str], ModelError | None] = lambda text: None
    fails_after_chunks: int = 0
    hangs: bool = False
    spoken: list[str] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("tts", self.provider, "script")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        self.spoken.append(text)
        await asyncio.sleep(NEVER if self.hangs else self.first_byte_s)
        error = self.fails_on(text)
        count = max(1, round(len(text) * self.s_per_char / 0.1))
        for index in range(count):
            if error is not None and index >= self.fails_after_chunks:
                raise error
            yield tone(0.1, self.sample_rate)
            await asyncio.sleep(self.chunk_s)


@cache
def tone(seconds: float, rate: int = 8000) -> bytes:
    t = np.arange(round(seconds * rate)) / rate
    return (np.sin(2 * np.pi * 300 * t) * 8000).astype("<i2").tobytes()


class Hearing:
    """What the caller's voice says: the test's caller fills it, the scripted recognizer reads it."""

    def __init__(self) -> None:
        self.spoken: list[str] = []

    def take(self) -> str:
        text, self.spoken = " ".join(self.spoken), []
        return text


@dataclass(eq=False)
class ScriptedStt:
    """Implements Stt. Without endpointing the final comes ``final_s`` after ``speech_ended``; with it, by itself
    ``endpoint_s`` after the last loud audio."""

    hearing: Hearing
    has_endpointing: bool = False
    judges_turns: bool = False
    # whether its finals say that the caller's turn is over
    reports_end: bool = True
    endpoint_s: float = 0.5
    final_s: float = 0.05
    partials: bool = False
    deaf: bool = False
    says_it_works: bool = False
    dies_at_s: float | None = None
    error: ModelError = field(default_factory=lambda: ModelError("stt_dead", "The recognizer died.", retryable=False))
    provider: str = "scripted"
    opened: int = 0
    languages: list[str] = field(default_factory=list)
    reports: str | None = None
    expectations: list[Expectation] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", self.provider, "script")

    async def open_stream(self, *, sample_rate: int, language: str) -> "ScriptedSttStream":
        self.opened += 1
        self.languages.append(language)
        return ScriptedSttStream(self)


class ScriptedSttStream:
    def __init__(self, stt: ScriptedStt) -> None:
        self._stt = stt
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        if stt.dies_at_s is not None:
            self._loop.call_later(stt.dies_at_s, self._queue.put_nowait, stt.error)

    def push_audio(self, pcm: bytes) -> None:
        if (
            not self._stt.has_endpointing
            or not np.abs(np.frombuffer(pcm, "<i2").astype(np.int32)).max(initial=0) > 1000
        ):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._stt.endpoint_s, self._final)

    def speech_started(self) -> None:
        if self._stt.partials and not self._stt.deaf:
            self._loop.call_later(0.25, self._partial)

    def _partial(self) -> None:
        if self._stt.hearing.spoken:
            self._queue.put_nowait(SttEvent("partial", " ".join(self._stt.hearing.spoken)))

    def speech_ended(self) -> None:
        if self._stt.says_it_works:
            self._queue.put_nowait(SttEvent("working", ""))
        if not self._stt.has_endpointing:
            self._loop.call_later(self._stt.final_s, self._final)

    def _final(self) -> None:
        text = self._stt.hearing.take()
        if text and not self._stt.deaf:
            self._queue.put_nowait(
                SttEvent(
                    "final",
                    text,
                    0.9,
                    is_endpoint=self._stt.has_endpointing and self._stt.reports_end,
                    language=self._stt.reports,
                )
            )

    def set_expectation(self, expectation: Expectation) -> None:
        self._stt.expectations.append(expectation)

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._queue.get()) is not None:
            if isinstance(event, ModelError):
                raise event
            yield event

    async def close(self) -> None:
        self._queue.put_nowait(None)
