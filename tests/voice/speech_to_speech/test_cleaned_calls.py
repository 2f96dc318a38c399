"""A speech-to-speech model hears what was cleaned: on this line, nothing else is words."""

import pytest

from offhook.kit.audio import Codec
from offhook.kit.audio_cleaner import CleaningConfig
from offhook.voice.input import caller_cleaning
from offhook.voice.input.caller_cleaning import CleaningThread
from tests.voice.speech_to_speech.spoken_call import OpenVendor, SpokenCall, on_a_line, spoken_agent
from tests.voice.work_at_once import AtOnce


class ReversedLine(SpokenCall):
    def _audio(self, now: float) -> bytes:
        return super()._audio(now)[::-1]


class Mirror:
    def __init__(self, codec: Codec, config: CleaningConfig) -> None: ...

    def clean_frame(self, payload: bytes) -> bytes:
        return payload[::-1]


def test_the_model_hears_what_was_cleaned(monkeypatch: pytest.MonkeyPatch, vendor: OpenVendor) -> None:
    monkeypatch.setattr(CleaningThread, "make_executor", AtOnce)
    monkeypatch.setattr(caller_cleaning, "AudioCleaner", Mirror)
    cleaned = {"caller_audio": {"noise_suppression": "moderate"}}

    async def scenario() -> None:
        async with vendor() as lab:
            call = ReversedLine(spoken_agent(), configurations=cleaned)
            await lab.carry(call.says("i want to book a table", at=4).hangs_up(at=10))
            assert ("user", "i want to book a table") in lab.remembered_lines

    on_a_line(scenario)
