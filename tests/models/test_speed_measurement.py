"""The figures of `offhook doctor --bench`: exact on virtual time, with ports that take a known time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.registry import ModelRegistry
from offhook.models.speed_measurement import measure_local_speech, measure_recognizer, measure_sentences, measure_voice
from offhook.settings import Settings
from tests.fakes.clock import run_virtual
from tests.models.voice_packs.installed import damage_pack, install_tiny_packs


class SlowVoice:
    """Implements Tts: a second of sound in two parts, the first after 0.2 s, the second 0.3 s later."""

    model_ref = ModelRef("tts", "slow", "voice")
    sample_rate = 8000

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        for pause in (0.2, 0.3):
            await asyncio.sleep(pause)
            yield bytes(8000)


class SilentVoice(SlowVoice):
    async def speak(self, text: str) -> AsyncIterator[bytes]:
        for chunk in list[bytes]():
            yield chunk


class SlowRecognizer:
    """Implements Stt and SttStream: answers 0.25 s after the caller's last word."""

    model_ref = ModelRef("stt", "slow", "recognizer")
    has_endpointing = False
    judges_turns = False

    def __init__(self) -> None:
        self.audio = bytearray()
        self.is_closed = False
        self._ends: asyncio.Queue[float] = asyncio.Queue()

    async def open_stream(self, *, sample_rate: int, language: str) -> "SlowRecognizer":
        return self

    def push_audio(self, pcm: bytes) -> None:
        self.audio += pcm

    def speech_started(self) -> None: ...

    def speech_ended(self) -> None:
        self._ends.put_nowait(asyncio.get_running_loop().time())

    def set_expectation(self, expectation: Expectation) -> None: ...

    async def events(self) -> AsyncIterator[SttEvent]:
        while True:
            await self._ends.get()
            await asyncio.sleep(0.25)
            yield SttEvent("partial", "a")
            yield SttEvent("final", "a table")

    async def close(self) -> None:
        self.is_closed = True


def test_a_voice() -> None:
    async def scenario() -> None:
        result, pcm = await measure_voice(SlowVoice(), asyncio.get_running_loop().time)
        assert (result.kind, result.answer_ms, result.real_time_factor) == ("tts", 200.0, 0.5)
        assert len(pcm) == 16000
        with pytest.raises(ModelError, match="made no sound"):
            await measure_voice(SilentVoice(), asyncio.get_running_loop().time)

    run_virtual(scenario())


def test_a_recognizer_hears_the_caller_as_on_a_call_and_then_at_once() -> None:
    async def scenario() -> None:
        stt, loop = SlowRecognizer(), asyncio.get_running_loop()
        began = loop.time()
        result = await measure_recognizer(stt, bytes(2 * 8000), language="en-US", clock=loop.time)
        assert (result.kind, result.answer_ms, result.real_time_factor) == ("stt", 250.0, 0.25)
        assert result.text == "a table"
        assert loop.time() - began == pytest.approx(3 * 0.25 + 1)
        assert len(stt.audio) == 3 * 2 * 8000
        assert stt.is_closed

    run_virtual(scenario())


def test_sentences() -> None:
    async def embed(_: str) -> None:
        await asyncio.sleep(0.003)

    async def scenario() -> None:
        result = await measure_sentences(embed, "tiny", asyncio.get_running_loop().time)
        assert (result.model, result.answer_ms, result.real_time_factor) == ("tiny", 3.0, None)

    run_virtual(scenario())


@pytest.mark.slow
async def test_what_is_installed_is_measured_and_what_is_damaged_says_so(tmp_path: Path) -> None:
    await asyncio.to_thread(install_tiny_packs, tmp_path)
    damage_pack(tmp_path, "small", "tts/model*")
    registry = ModelRegistry(Settings(data_dir=tmp_path))
    results = [result async for result in measure_local_speech(registry, ["voice_pack"])]
    await registry.close()
    models = [(kind, name) for kind in ("tts", "stt") for name in ("deutsch", "english", "small")]
    assert [(result.kind, result.model) for result in results] == models
    assert [(result.model, result.code) for result in results if result.code] == [("small", "tts_unavailable")]
    for result in results:
        if result.code is None:
            assert result.answer_ms is not None
            assert result.real_time_factor is not None
            assert result.real_time_factor > 0
