"""Whole calls with the recognizer and the voice of a pack: real programs, and a clock that waits for them."""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K
from offhook.models.ports import Stt
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.providers.voice_pack.installed_packs import InstalledPacks
from offhook.models.providers.voice_pack.stt import PackRecognizers
from offhook.models.providers.voice_pack.tts import PackVoices
from offhook.models.speech_programs.recognizer_process import RecognizerProcess
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.models.speech_programs.voice_process import VoiceProcess
from offhook.models.vendors import ModelChoice
from offhook.voice import events
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import Hearing, ScriptedStt, says
from tests.fakes.tiny_models import phonemes_in, say_words
from tests.models.voice_packs.installed import damage_pack, install_tiny_packs, remove_pack
from tests.voice.phone import LOUDNESS, Action, Call, simple_agent

BOOK = "i want to book a table"
GREETING, SURE, BYE = "Hello, how can I help?", "Sure, for how many?", "Two, see you then."


@dataclass
class TalkingCall(Call):
    """The caller really speaks, in the tones that a tiny recognizer knows."""

    voice: bytearray = field(default_factory=bytearray)

    def says(self, text: str, *, at: float, for_s: float | None = None, loudness: float = LOUDNESS) -> Self:
        self.actions.append(Action(at, lambda _: self.voice.extend(MULAW_8K.encode(say_words(text, 8000)))))
        return self

    def _audio(self, now: float) -> bytes:
        frame = (bytes(self.voice[:160]) + self.leg.codec.silence_frame)[:160]
        del self.voice[:160]
        return frame

    def heard_phonemes(self) -> str:
        """What the caller heard of a tiny voice. Its phonemes are where its sentences begin, so they are read one by one."""
        line = np.concatenate([MULAW_8K.decode(frame) for _, frame in self.leg.frames])
        loud = np.flatnonzero(np.abs(line.astype(int)) > 3000)
        parts = np.split(loud, np.flatnonzero(np.diff(loud) > 1600) + 1) if loud.size else []
        return " ".join(phonemes_in(line[part[0] : part[-1] + 1].tobytes(), 8000) for part in parts)

    @property
    def failovers(self) -> list[tuple[str, str, str]]:
        return [(data["kind"], data["from"], data["to"]) for data in self.sink.of(events.FAILED_OVER)]


class PackModels:
    """The models of the packs in a folder, with the built-in voice behind them."""

    def __init__(self, data: Path) -> None:
        packs = InstalledPacks(data / "voices")
        self.is_closing = False
        self.voices, self.recognizers, self.builtin = PackVoices(packs), PackRecognizers(packs), SynthesizerProcess()
        self.tts = (self.voices.build(ModelChoice("tts", "voice_pack", "english")), BuiltinTts(self.builtin))
        self.stt = self.recognizers.build(ModelChoice("stt", "voice_pack", "english"))

    @property
    def programs(self) -> list[VoiceProcess | RecognizerProcess]:
        recognizers = [process for each in self.recognizers.pool.programs for process in each.processes]
        return [*self.voices.pool.programs, *recognizers]

    def are_awaited(self) -> bool:
        return self.is_closing or any(each.is_awaited for each in (*self.programs, self.voices.speech, self.builtin))

    async def close(self) -> None:
        self.is_closing = True
        await self.voices.close()
        await self.recognizers.close()
        await self.builtin.close()


def carry(call: TalkingCall, models: PackModels) -> TalkingCall:
    """Carries the call on virtual time, which stands still while a program works."""

    async def run_call() -> None:
        try:
            call.result = await call._run()
        finally:
            await models.close()

    run_virtual(run_call(), is_awaited=models.are_awaited)
    return call


def call_with(models: PackModels, *stts: Stt) -> TalkingCall:
    call = TalkingCall(simple_agent(), [says(SURE), says(BYE)], ttss=models.tts, stts=[models.stt, *stts])
    return call.says(BOOK, at=4.0).says("for two please", at=10.0).hangs_up(at=16.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    install_tiny_packs(tmp_path)
    return tmp_path


def test_a_conversation(data: Path) -> None:
    call = carry(call_with(models := PackModels(data)), models)
    assert call.transcript == [
        ("agent", GREETING),
        ("caller", BOOK),
        ("agent", SURE),
        ("caller", "for two please"),
        ("agent", BYE),
    ]
    assert call.heard_phonemes() == "həlˈoʊ,hˌaʊkænaɪhˈɛlp? ʃˈʊɹ,fɔːɹhˌaʊmˈɛni? tˈuː,sˈiːjuːðˈɛn."
    assert call.failovers == []
    (usage,) = call.sink.of(events.USAGE_COUNTED)
    used = [(usage[kind][0]["provider"], usage[kind][0]["model"]) for kind in ("tts", "stt")]
    assert used == [("voice_pack", "english")] * 2


@pytest.mark.slow
def test_programs_that_crash_during_the_call_are_replaced(data: Path) -> None:
    call = call_with(models := PackModels(data))

    def crash(_: Call) -> None:
        for program in models.programs:
            assert program.pid is not None
            os.kill(program.pid, signal.SIGKILL)

    carry(call.does(crash, at=3.9), models)
    assert [text for who, text in call.transcript if who == "caller"] == [BOOK, "for two please"]
    assert call.agent_said[-1] == BYE
    assert call.failovers == []


@pytest.mark.slow
def test_a_pack_that_is_removed_during_the_call(data: Path) -> None:
    """The recognizer serves the call to its end; the voice is looked up for each sentence, so the built-in one goes on."""
    call = call_with(models := PackModels(data))
    carry(call.does(lambda _: remove_pack(data, "english"), at=3.0), models)
    assert [text for who, text in call.transcript if who == "caller"] == [BOOK, "for two please"]
    assert call.agent_said[-1] == BYE
    assert call.failovers == [("tts", "voice_pack", "builtin")]


@pytest.mark.slow
def test_a_damaged_pack_leaves_the_call_to_the_models_behind_it(data: Path) -> None:
    damage_pack(data, "english", "tts/*.onnx")
    damage_pack(data, "english", "stt/joiner*")
    hearing = Hearing()
    call = call_with(models := PackModels(data), ScriptedStt(hearing))
    call.does(lambda _: hearing.spoken.append(BOOK), at=4.0)
    carry(call.does(lambda _: hearing.spoken.append("for two please"), at=10.0), models)
    assert [text for who, text in call.transcript if who == "caller"] == [BOOK, "for two please"]
    assert call.agent_said[-1] == BYE
    assert {kind for kind, *_ in call.failovers} == {"tts", "stt"}
    codes = {data["code"] for data in call.sink.of(events.MODEL_FAILED)}
    assert codes == {"stt_unavailable", "tts_unavailable"}
