"""Scripted LLM, TTS and STT that implement the model ports on loop time alone, so that they run on a virtual clock."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from offhook.models.ports import (
    CallModels,
    Expectation,
    LlmEvent,
    LlmRequest,
    LlmUsage,
    ModelError,
    ModelRef,
    Stt,
    SttEvent,
    TextDelta,
    ToolCall,
    ToolCalled,
)

# -- LLM ---------------------------------------------------------------------------------------------------------


class Hang:
    """A step after which nothing comes any more."""


HANG: Final = Hang()

# A number waits so many seconds, a string is one delta, an exception is raised.
Step = float | int | str | ToolCall | LlmUsage | ModelError | Hang
Turn = Sequence[Step]

_ids = itertools.count(1)


def says(text: str, *, after: float = 0.1, per_word: float = 0.01) -> list[Step]:
    """A turn that speaks ``text`` word by word, the first one ``after`` seconds."""
    words = text.split(" ")
    steps: list[Step] = [after]
    for index, word in enumerate(words):
        steps += [word if index == 0 else f" {word}", per_word]
    return [*steps, LlmUsage(prompt_tokens=100, completion_tokens=len(words))]


def calls(name: str, /, *, after: float = 0.1, **arguments: Any) -> list[Step]:
    """A turn that calls one function."""
    return [after, ToolCall(f"call_{next(_ids)}", name, arguments), LlmUsage(100, 10)]


def fails(code: str = "server_error", *, retryable: bool = True, after: float = 0.05) -> list[Step]:
    return [after, ModelError(code, f"scripted {code}", retryable=retryable)]


def hangs() -> list[Step]:
    return [HANG]


class FakeLlm:
    """Answers its requests with ``turns`` in order, then with ``otherwise``; extraction requests do not use a turn.

    ``turns`` may be a function of the request. ``extraction`` is what a request with ``response_schema`` gets (only
    the keys that the schema names). ``requests`` keeps what was asked; ``cancelled`` counts closed streams.
    """

    def __init__(
        self,
        turns: Sequence[Turn] | Callable[[LlmRequest], Turn] = (),
        *,
        otherwise: Turn | None = None,
        extraction: dict[str, Any] | None = None,
        provider: str = "fake",
    ) -> None:
        self.ref = ModelRef("llm", provider, "fake-llm")
        self._turns = turns
        self._next = 0
        self._otherwise = says("Go on.") if otherwise is None else otherwise
        self._extraction = extraction or {}
        self.requests: list[LlmRequest] = []
        self.cancelled = 0

    def _turn(self, request: LlmRequest) -> Turn:
        if request.response_schema is not None:
            named = request.response_schema.get("properties", {})
            return [0.05, json.dumps({name: self._extraction.get(name) for name in named})]
        if callable(self._turns):
            return self._turns(request)
        index, self._next = self._next, self._next + 1
        return self._turns[index] if index < len(self._turns) else self._otherwise

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        self.requests.append(request)
        is_done = False
        try:
            for step in self._turn(request):
                match step:
                    case ModelError():
                        is_done = True
                        raise step
                    case Hang():
                        await asyncio.Event().wait()
                    case float() | int():
                        await asyncio.sleep(step)
                    case str():
                        yield TextDelta(step)
                    case ToolCall():
                        yield ToolCalled(step)
                    case LlmUsage():
                        yield step
            is_done = True
        finally:
            self.cancelled += not is_done


# -- TTS ---------------------------------------------------------------------------------------------------------


class FakeTts:
    """A tone as long as the text: ``s_per_char`` seconds of audio a character, made ``speed`` times faster than it plays.

    The next sentences that contain a key of ``trouble`` get that trouble instead: ``"hang"`` (no first byte),
    ``"fail"`` (at once) or ``"break"`` (after half of the audio); ``trouble_times`` limits how often in all.
    """

    def __init__(
        self,
        *,
        sample_rate: int = 8000,
        first_byte_s: float = 0.08,
        s_per_char: float = 0.06,
        speed: float = 20.0,
        chunk_s: float = 0.1,
        trouble: dict[str, str] | None = None,
        trouble_times: int = 1_000_000,
        provider: str = "fake",
    ) -> None:
        self.ref = ModelRef("tts", provider, "fake-tts")
        self.sample_rate = sample_rate
        self.first_byte_s = first_byte_s
        self.s_per_char = s_per_char
        self.speed = speed
        self.chunk_s = chunk_s
        self.trouble = trouble or {}
        self.trouble_times = trouble_times
        self.spoken: list[str] = []
        self.cancelled: list[str] = []

    def duration_s(self, text: str) -> float:
        return len(text) * self.s_per_char

    def _trouble_with(self, text: str) -> str | None:
        found = next((kind for part, kind in self.trouble.items() if part in text), None)
        if found is None or self.trouble_times <= 0:
            return None
        self.trouble_times -= 1
        return found

    async def speak(self, text: str) -> AsyncGenerator[bytes, None]:
        self.spoken.append(text)
        trouble = self._trouble_with(text)
        is_done = False
        try:
            if trouble == "hang":
                await asyncio.Event().wait()
            if trouble == "fail":
                is_done = True
                raise ModelError("tts_failed", "scripted failure", retryable=True)
            await asyncio.sleep(self.first_byte_s)
            audio = self._tone(text)
            step = int(self.chunk_s * self.sample_rate) * 2
            end = len(audio) // 4 * 2 if trouble == "break" else len(audio)
            for at in range(0, end, step):
                yield audio[at : min(at + step, end)]
                await asyncio.sleep(self.chunk_s / self.speed)
            is_done = True
            if trouble == "break":
                raise ModelError("tts_failed", "scripted failure in mid-sentence", retryable=True)
        finally:
            if not is_done:
                self.cancelled.append(text)

    def _tone(self, text: str) -> bytes:
        t = np.arange(round(self.duration_s(text) * self.sample_rate)) / self.sample_rate
        return (np.sin(2 * np.pi * 300 * t) * 8000).astype("<i2").tobytes()


# -- STT ---------------------------------------------------------------------------------------------------------


@dataclass
class Hearing:
    """What the caller says, shared by the test's caller and every :class:`FakeStt` of the call.

    ``say`` is called at the moment when the caller begins. Words come as partials spread over ``duration_s``, the
    final ``endpointing_s`` after its end (or, without endpointing, ``final_delay_s`` after ``speech_ended``).
    """

    s_per_word: float = 0.3
    endpointing_s: float = 0.5
    final_delay_s: float = 0.05
    confidence: float | None = 0.9
    streams: list["FakeSttStream"] = field(default_factory=list)

    def duration_s(self, text: str) -> float:
        return max(len(text.split()), 1) * self.s_per_word

    def say(self, text: str, *, duration_s: float | None = None) -> float:
        """Let every open stream hear ``text`` from now on; return how long it takes, in seconds."""
        length = self.duration_s(text) if duration_s is None else duration_s
        for stream in [stream for stream in self.streams if stream.is_open]:
            stream.hear(text, length)
        return length

    def die(self, code: str = "stt_died", *, retryable: bool = True) -> None:
        """Every open stream raises in its ``events``."""
        for stream in [stream for stream in self.streams if stream.is_open]:
            stream.fail(ModelError(code, "scripted death", retryable=retryable))


class FakeSttStream:
    """Implements SttStream. ``pushed_bytes``, ``starts``, ``ends`` and ``expectations`` are for the test to read."""

    def __init__(self, hearing: Hearing, stt: "FakeStt") -> None:
        self._hearing = hearing
        self._stt = stt
        self._queue: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()
        self._timers: list[asyncio.TimerHandle] = []
        self._waiting: list[str] = []
        self.is_open = True
        self.pushed_bytes = 0
        self.starts = 0
        self.ends = 0
        self.expectations: list[Expectation] = []

    def push(self, pcm: bytes) -> None:
        self.pushed_bytes += len(pcm)

    def speech_started(self) -> None:
        self.starts += 1

    def speech_ended(self) -> None:
        self.ends += 1
        if self._waiting and not self._stt.has_endpointing:
            text, self._waiting = " ".join(self._waiting), []
            self._later(self._hearing.final_delay_s, self._final(text))

    def expect(self, expectation: Expectation) -> None:
        self.expectations.append(expectation)

    def hear(self, text: str, length_s: float) -> None:
        if self._stt.is_deaf:
            return
        words = text.split()
        for count in range(1, len(words)):
            self._later(length_s * count / len(words), SttEvent("partial", " ".join(words[:count])))
        if self._stt.has_endpointing:
            self._later(length_s + self._hearing.endpointing_s, self._final(text))
        else:
            self._waiting.append(text)

    def _final(self, text: str) -> SttEvent:
        return SttEvent("final", text, self._hearing.confidence, is_endpoint=self._stt.has_endpointing)

    def _later(self, delay_s: float, event: SttEvent) -> None:
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(delay_s, self._queue.put_nowait, event))

    def fail(self, error: ModelError) -> None:
        self.is_open = False
        self._queue.put_nowait(error)

    async def events(self) -> AsyncGenerator[SttEvent, None]:
        while (item := await self._queue.get()) is not None:
            if isinstance(item, ModelError):
                raise item
            yield item

    async def close(self) -> None:
        self.is_open = False
        for timer in self._timers:
            timer.cancel()
        self._queue.put_nowait(None)


class FakeStt:
    """``is_deaf`` (settable at any time): hears nothing. ``open_error``: raised by ``open``; ``open_s``: how long it takes."""

    def __init__(
        self,
        hearing: Hearing,
        *,
        has_endpointing: bool = True,
        is_deaf: bool = False,
        open_error: ModelError | None = None,
        open_s: float = 0.0,
        provider: str = "fake",
    ) -> None:
        self.ref = ModelRef("stt", provider, "fake-stt")
        self.hearing = hearing
        self.has_endpointing = has_endpointing
        self.is_deaf = is_deaf
        self.open_error = open_error
        self.open_s = open_s
        self.streams: list[FakeSttStream] = []

    async def open(self, *, sample_rate: int, language: str) -> FakeSttStream:
        if self.open_s:
            await asyncio.sleep(self.open_s)
        if self.open_error is not None:
            raise self.open_error
        stream = FakeSttStream(self.hearing, self)
        self.streams.append(stream)
        self.hearing.streams.append(stream)
        return stream


def fake_models(
    llm: FakeLlm | Sequence[FakeLlm], *, tts: FakeTts | Sequence[FakeTts] | None = None, stt: Stt | Sequence[Stt]
) -> CallModels:
    """CallModels of fakes; a single one or several, best first."""
    return CallModels(
        llm=(llm,) if isinstance(llm, FakeLlm) else tuple(llm),
        tts=(FakeTts(),) if tts is None else (tts,) if isinstance(tts, FakeTts) else tuple(tts),
        stt=tuple(stt) if isinstance(stt, Sequence) else (stt,),
    )
