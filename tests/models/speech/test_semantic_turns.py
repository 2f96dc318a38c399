"""OpenAI's recognizer with its semantic detector of turns."""

from typing import Any

import pytest

from offhook.models.configuration.turn_settings import TurnSettings
from offhook.models.ports import ModelError
from offhook.models.speech.stt import SocketStt
from tests.models.speech.test_ears import BOOK, heard, says
from tests.models.speech.vendors import EARS, listening, stt_choice, virtually

OPENAI = EARS[3]


class TestOpenAi:
    @pytest.mark.parametrize(("taking", "eagerness"), [("eager", "high"), ("balanced", "auto"), ("patient", "low")])
    def test_the_semantic_detector_takes_the_agents_pace(self, taking: str, eagerness: str) -> None:
        async def scenario() -> None:
            turns = TurnSettings("semantic_vad", taking)
            async with listening(OPENAI, turns=turns) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK, quiet_s=2.0)
                assert transcript.finals == BOOK
                settings = server.messages[0]["session"]["audio"]["input"]
                assert settings["turn_detection"] == {"type": "semantic_vad", "eagerness": eagerness}

        virtually(scenario)

    def test_a_pause_is_the_default_and_the_only_detector(self) -> None:
        async def scenario() -> None:
            async with listening(OPENAI) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                detection = server.messages[0]["session"]["audio"]["input"]["turn_detection"]
                assert detection == {"type": "server_vad", "silence_duration_ms": 400, "prefix_padding_ms": 300}
                assert not any(event.kind == "working" for event in transcript.events)

        virtually(scenario)

    def test_a_pause_within_a_sentence_is_no_end_and_the_call_knows_that_words_follow(self) -> None:
        async def scenario() -> None:
            turns = TurnSettings("semantic_vad")
            async with listening(OPENAI, turns=turns) as (stt, _), heard(stt) as (stream, transcript):
                await says(stream, "i want a table", quiet_s=0.9)
                await says(stream, "for two people", quiet_s=2.0)
                assert transcript.finals == "i want a table for two people"
                assert transcript.endpoints == 1

        virtually(scenario)

    def test_a_vendor_that_waits_for_words_is_not_deaf(self) -> None:
        async def scenario() -> None:
            turns = TurnSettings("semantic_vad")
            async with listening(OPENAI, turns=turns) as (stt, _), heard(stt) as (stream, transcript):
                await says(stream, "i want a table", quiet_s=2.5)
                assert [event.kind for event in transcript.events if event.kind != "partial"] == ["working", "final"]

        virtually(scenario)

    def test_the_vendor_refuses_what_it_does_not_know(self) -> None:
        async def scenario() -> None:
            async with OPENAI.server().running() as server:
                stt = SocketStt(_WrongOpenAi(stt_choice(OPENAI, server.url, turns=TurnSettings("semantic_vad"))))
                with pytest.raises(ModelError) as caught:
                    await stt.open_stream(sample_rate=8000, language="en-US")
                assert caught.value.code == "stt_bad_request"

        virtually(scenario)


class _WrongOpenAi(OPENAI.wire):  # type: ignore[name-defined, misc]
    def create_session(self, audio: Any, language: str, terms: Any) -> Any:
        session = super().create_session(audio, language, terms)
        session._input["turn_detection"]["silence_duration_ms"] = 100
        return session


@pytest.mark.parametrize(
    ("vendor", "detection", "judges"),
    [
        ("deepgram", "server_vad", False),
        ("assemblyai", "server_vad", True),
        ("speechmatics", "server_vad", False),
        ("openai", "server_vad", False),
        ("openai", "semantic_vad", True),
        ("deepgram flux", "server_vad", True),
    ],
)
def test_who_judges_turns_needs_no_other_detector(vendor: str, detection: str, judges: bool) -> None:
    (ears,) = (each for each in EARS if each.name == vendor)
    wire = ears.wire(stt_choice(ears, "http://127.0.0.1:9", turns=TurnSettings(detection)))
    assert SocketStt(wire).judges_turns is judges
