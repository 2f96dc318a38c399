"""Deepgram Flux, which decides when a turn is over, and says before when it is likely to be."""

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from offhook.models.configuration.turn_settings import TurnSettings
from offhook.models.ports import ModelError, SttEvent
from offhook.models.providers.deepgram import make_wire
from offhook.models.providers.deepgram.flux import DeepgramFluxWire
from offhook.models.providers.deepgram.stt import DeepgramSttWire
from offhook.models.registry import ModelRegistry
from offhook.models.speech.stt import SocketStt
from offhook.settings import Settings
from offhook_lab.speech.flux import FluxServer
from tests.models.speech.test_ears import BOOK, heard, says
from tests.models.speech.vendors import EARS, listening, stt_choice, virtually

FLUX = EARS[4]
MULTI = replace(FLUX, model="flux-general-multi")
EARLY = TurnSettings(wants_likely_ends=True)


def turn(event: str, text: str) -> dict[str, Any]:
    return {
        "type": "TurnInfo",
        "event": event,
        "turn_index": 0,
        "audio_window_start": 0.0,
        "audio_window_end": 1.5,
        "transcript": text,
        "words": [{"word": word, "confidence": 0.9} for word in text.split()],
        "end_of_turn_confidence": 0.5,
    }


class TestFlux:
    def test_a_turn_event_by_event(self) -> None:
        wire = DeepgramFluxWire(stt_choice(FLUX, "ws://nowhere"))
        session = wire.create_session(wire.format_for(8000), "en-US", ())
        found: list[SttEvent] = []
        for event, text in (
            ("StartOfTurn", "Two"),
            ("Update", "Two people"),
            ("EagerEndOfTurn", "Two people"),
            ("Update", "Two people"),
            ("TurnResumed", "Two people"),
            ("EagerEndOfTurn", "Two people please"),
            ("EndOfTurn", "Two people please"),
            ("SomethingNew", "x"),
            ("Update", ""),
        ):
            found += [message.event for message in session.parse_message(turn(event, text))]  # type: ignore[union-attr]
        assert [(event.kind, event.text, event.is_likely_end) for event in found] == [
            ("partial", "Two", False),
            ("partial", "Two people", False),
            ("partial", "Two people", True),
            ("partial", "Two people", True),
            ("partial", "Two people", False),
            ("partial", "Two people please", True),
            ("final", "Two people please", False),
        ]
        assert found[-1].is_endpoint
        assert found[-1].confidence == pytest.approx(0.9)

    def test_the_end_is_announced_taken_back_and_certain(self) -> None:
        async def scenario() -> None:
            async with listening(FLUX, turns=EARLY) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, "i want a table", quiet_s=0.35)
                await says(stream, "for two people", quiet_s=1.0)
                assert transcript.finals == "i want a table for two people"
                assert transcript.endpoints == 1
                assert "eager_eot_threshold=0.5" in server.requests[0]
                ends = [event.text for event in transcript.events if event.is_likely_end]
                assert ends == ["i want a table", "i want a table for two people"]

        virtually(scenario)

    def test_without_early_answers_the_vendor_is_not_asked_to_guess(self) -> None:
        async def scenario() -> None:
            async with listening(FLUX) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, BOOK)
                assert "eager_eot_threshold" not in server.requests[0]
                assert not any(event.is_likely_end for event in transcript.events)

        virtually(scenario)

    @pytest.mark.parametrize(
        ("taking", "expected"),
        [
            ("eager", "eot_threshold=0.6&eot_timeout_ms=1400&eager_eot_threshold=0.4"),
            ("balanced", "eot_threshold=0.7&eot_timeout_ms=1400&eager_eot_threshold=0.5"),
            ("patient", "eot_threshold=0.8&eot_timeout_ms=2100&eager_eot_threshold=0.6"),
        ],
    )
    def test_the_agents_pace_is_the_vendors(self, taking: str, expected: str) -> None:
        async def scenario() -> None:
            turns = TurnSettings(taking=taking, wants_likely_ends=True)
            async with listening(FLUX, turns=turns) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, "yes")
                assert transcript.finals == "yes"
                assert expected in server.requests[0]

        virtually(scenario)

    @pytest.mark.parametrize(
        ("model", "languages", "hints"),
        [
            ("flux-general-multi", ("es-MX", "en-US", "ar"), ["es", "en"]),
            ("flux-general-multi", (), ["de"]),
            ("flux-general-en", ("es-MX", "en-US"), []),
        ],
    )
    def test_the_multilingual_model_is_hinted_what_may_be_spoken(
        self, model: str, languages: tuple[str, ...], hints: list[str]
    ) -> None:
        wire = DeepgramFluxWire(stt_choice(replace(FLUX, model=model), "ws://nowhere", languages=languages))
        address = wire.connection_address(wire.format_for(8000), "de-DE", ()).url
        assert parse_qs(urlsplit(address).query).get("language_hint", []) == hints

    def test_the_multilingual_model_names_the_language_of_a_turn(self) -> None:
        async def scenario() -> None:
            async with listening(MULTI, languages=("en-US", "es")) as (stt, server), heard(stt) as (stream, transcript):
                assert isinstance(server, FluxServer)
                server.languages = ("es", "en")
                await says(stream, BOOK)
                (final,) = [event for event in transcript.events if event.kind == "final"]
                assert (final.text, final.language) == (BOOK, "es")

        virtually(scenario)

    def test_what_it_refuses_is_an_error(self) -> None:
        async def scenario() -> None:
            async with FLUX.server().running() as server:
                stt = SocketStt(_WrongFlux(stt_choice(FLUX, server.url)))
                with pytest.raises(ModelError) as caught:
                    await stt.open_stream(sample_rate=8000, language="en-US")
                assert caught.value.code == "stt_server_error"

        virtually(scenario)

    def test_a_minute_of_nothing_is_kept_open_with_little_silence(self) -> None:
        async def scenario() -> None:
            async with listening(FLUX) as (stt, server), heard(stt) as (stream, transcript):
                await says(stream, "hello")
                before = stream.sent_s
                await asyncio.sleep(60)
                assert stream.sent_s - before < 1.5
                await says(stream, BOOK)
                assert transcript.finals == f"hello {BOOK}"
                assert server.connections == 1

        virtually(scenario)

    def test_each_model_has_its_own_address(self) -> None:
        assert isinstance(make_wire(stt_choice(FLUX, "ws://nowhere")), DeepgramFluxWire)
        assert isinstance(make_wire(stt_choice(EARS[0], "ws://nowhere")), DeepgramSttWire)


class _WrongFlux(DeepgramFluxWire):
    def connection_address(self, audio: Any, language: str, terms: Any) -> Any:
        found = super().connection_address(audio, language, terms)
        return type(found)(found.url.replace("eot_threshold=0.7", "eot_threshold=0.2"), found.headers)


def test_an_agents_settings_reach_only_recognizers_that_use_them() -> None:
    registry = ModelRegistry(Settings())
    flux = {"stt": {"provider": "deepgram", "model": "flux-general-en", "api_key": "k"}}
    other = {"stt": {"provider": "assemblyai", "model": "universal-streaming-english", "api_key": "k"}}
    turns = TurnSettings.from_configurations({"turn_taking": "patient", "early_answers": True})
    assert turns == TurnSettings("server_vad", "patient", wants_likely_ends=True)
    assert registry.chooser.resolve(flux, {}, turns=turns).by_kind["stt"][0].turns == turns
    assert registry.chooser.resolve(other, {}, turns=turns).by_kind["stt"][0].turns == TurnSettings()
