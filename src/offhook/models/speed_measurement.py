"""Measures voices and recognizers on this machine, as a caller would wait for them."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final, Literal, cast

from offhook.kit.audio import Resampler
from offhook.models.ports import Expectation, ModelError, Stt, SttEvent, SttStream, Tts
from offhook.models.registry import BUILTIN, ModelRegistry
from offhook.models.vendors import Kind, ModelChoice

# Vendors whose models run on this machine, without a server of their own.
LOCAL_PROVIDERS: Final = (BUILTIN, "voice_pack")
SPOKEN: Final = "I would like to book an appointment for next Tuesday at ten."
LINE_RATE: Final = 8000
FRAME_S: Final = 0.02
ANSWER_TIMEOUT_S: Final = 60.0
SENTENCES: Final = 20
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class SpeedResult:
    """``answer_ms`` is a voice's first sound, a recognizer's words after the caller's last one, or the vector of one
    sentence. ``real_time_factor`` is work by length of the audio: above 1 a call has to wait. ``code`` and ``message``
    say why there is no figure."""

    kind: Literal["tts", "stt", "sentences"]
    provider: str
    model: str
    answer_ms: float | None = None
    real_time_factor: float | None = None
    text: str | None = None
    code: str | None = None
    message: str | None = None


async def measure_voice(tts: Tts, clock: Clock = perf_counter) -> tuple[SpeedResult, bytes]:
    """Returns the figures of a sentence that is not the first one, and its audio. Raises ModelError."""
    await _speak(tts, "Yes.", clock)
    began = clock()
    first_at, pcm = await _speak(tts, SPOKEN, clock)
    took = clock() - began
    seconds = len(pcm) / 2 / tts.sample_rate
    if first_at is None or not seconds:
        raise ModelError("tts_failed", "The voice made no sound.", retryable=False)
    ref = tts.model_ref
    result = SpeedResult("tts", ref.provider, ref.model, round((first_at - began) * 1000, 1), round(took / seconds, 4))
    return result, pcm


async def _speak(tts: Tts, text: str, clock: Clock) -> tuple[float | None, bytes]:
    first_at, pcm = None, bytearray()
    async for chunk in tts.speak(text):
        first_at = clock() if first_at is None else first_at
        pcm += chunk
    return first_at, bytes(pcm)


async def measure_recognizer(stt: Stt, pcm: bytes, *, language: str, clock: Clock = perf_counter) -> SpeedResult:
    """Returns the figures for a caller who says ``pcm``, which is at 8 kHz. Raises ModelError.

    The audio comes as on a call for the answer's time, and all at once for the real-time factor.
    """
    stream = await stt.open_stream(sample_rate=LINE_RATE, language=language)
    events = stream.events()
    try:
        stream.set_expectation(Expectation((SPOKEN, "I want to cancel", "What are your opening hours?")))
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            await _hear(stream, events, pcm, 0.0, clock)  # the first utterance waits for what is learned once
            text, answer_s, _ = await _hear(stream, events, pcm, FRAME_S, clock)
            _, _, work_s = await _hear(stream, events, pcm, 0.0, clock)
    except TimeoutError:
        raise ModelError("stt_timeout", f"No answer for {ANSWER_TIMEOUT_S:g} s.", retryable=True) from None
    finally:
        await stream.close()
    ref, seconds = stt.model_ref, len(pcm) / 2 / LINE_RATE
    return SpeedResult("stt", ref.provider, ref.model, round(answer_s * 1000, 1), round(work_s / seconds, 4), text)


async def _hear(
    stream: SttStream, events: AsyncIterator[SttEvent], pcm: bytes, pause_s: float, clock: Clock
) -> tuple[str, float, float]:
    """Returns the words, and how long after the last one and after the first one they came."""
    frame = int(FRAME_S * LINE_RATE) * 2
    began = clock()
    stream.speech_started()
    for count, at in enumerate(range(0, len(pcm), frame), 1):
        stream.push_audio(pcm[at : at + frame])
        if pause_s:
            await asyncio.sleep(max(0.0, began + count * pause_s - clock()))
    ended = clock()
    stream.speech_ended()
    async for event in events:
        if event.kind == "final":
            return event.text, clock() - ended, clock() - began
    raise ModelError("stt_failed", "The recognizer ended without an answer.", retryable=True)


async def measure_sentences(
    embed: Callable[[str], Awaitable[object]], model: str, clock: Clock = perf_counter
) -> SpeedResult:
    """Returns what the vector of one sentence takes, by the median of some."""
    await embed(SPOKEN)
    took = []
    for number in range(SENTENCES):
        began = clock()
        await embed(f"{SPOKEN} {number}")
        took.append(clock() - began)
    return SpeedResult("sentences", BUILTIN, model, round(statistics.median(took) * 1000, 2))


async def measure_local_speech(
    registry: ModelRegistry, providers: Sequence[str] = LOCAL_PROVIDERS
) -> AsyncIterator[SpeedResult]:
    """Yields the figures of every voice and recognizer on this machine: the built-in ones, then those of packs.

    Recognizers hear the first voice that works: the built-in one. A model that fails has the error's code instead of figures.
    """
    caller: bytes | None = None
    for choice in _local_choices(registry, "tts", providers):
        tts = cast(Tts, registry.port_for(choice))
        try:
            result, pcm = await measure_voice(tts)
        except ModelError as error:
            yield _failure(choice, error)
            continue
        if caller is None:
            caller = Resampler(tts.sample_rate, LINE_RATE).push(pcm, is_last=True).tobytes()
        yield result
    for choice in _local_choices(registry, "stt", providers):
        try:
            if caller is None:
                raise ModelError("stt_no_audio", "No voice of this machine can speak to it.", retryable=False)
            stt = cast(Stt, registry.port_for(choice))
            yield await measure_recognizer(stt, caller, language=choice.language)
        except ModelError as error:
            yield _failure(choice, error)


def _local_choices(registry: ModelRegistry, kind: Kind, providers: Sequence[str]) -> list[ModelChoice]:
    """Returns a choice of each local model with its first voice, in its own language."""
    choices = []
    for provider in providers:
        vendor = registry.catalog.find_vendor(kind, provider)
        for model in vendor.models:
            voices = [voice.id for voice in vendor.voices if not voice.models or model.id in voice.models]
            language = model.languages[0] if model.languages else "en-US"
            choices.append(
                ModelChoice(kind, provider, model.id, voice_id=voices[0] if voices else "", language=language)
            )
    return choices


def _failure(choice: ModelChoice, error: ModelError) -> SpeedResult:
    kind: Literal["tts", "stt"] = "tts" if choice.kind == "tts" else "stt"
    return SpeedResult(kind, choice.provider, choice.model, code=error.code, message=str(error))
