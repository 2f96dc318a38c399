"""What recognizers are asked for, and what they report, where an agent speaks several languages."""

from urllib.parse import parse_qs, urlsplit

import pytest

from offhook.models.ports import SttEvent
from offhook.models.providers.assemblyai.stt import MULTILINGUAL, AssemblyAiWire
from offhook.models.providers.deepgram.stt import DeepgramSttWire
from offhook.models.providers.openai_compatible.realtime import OpenAiRealtimeWire
from offhook.models.speech.formats import MULAW_8000
from offhook.models.speech.stt_wire import SttTranscript
from offhook.models.vendors import ModelChoice


def choice(provider: str, model: str, *languages: str) -> ModelChoice:
    return ModelChoice("stt", provider, model, api_key="key", languages=languages)


def options(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


@pytest.mark.parametrize(
    ("model", "languages", "asked"),
    [
        ("nova-3", ("en-US", "es"), "multi"),
        ("nova-3", (), "es"),
        ("nova-2", ("en-US", "es"), "es"),
        ("nova-3", ("en-US", "ar"), "es"),
    ],
)
def test_deepgram_hears_several_languages_where_its_model_knows_them(
    model: str, languages: tuple[str, ...], asked: str
) -> None:
    wire = DeepgramSttWire(choice("deepgram", model, *languages))
    assert options(wire.connection_address(MULAW_8000, "es", ()).url)["language"] == asked


def test_deepgram_names_the_language_of_words() -> None:
    session = DeepgramSttWire(choice("deepgram", "nova-3", "en", "es")).create_session(MULAW_8000, "en", ())
    words = [{"word": "una", "language": "es"}, {"word": "mesa", "language": "es"}, {"word": "ok", "language": "en"}]
    (found,) = session.parse_message(
        {
            "type": "Results",
            "is_final": True,
            "speech_final": True,
            "start": 0.0,
            "duration": 1.0,
            "channel": {"alternatives": [{"transcript": "una mesa ok", "confidence": 0.9, "words": words}]},
        }
    )
    assert isinstance(found, SttTranscript)
    assert found.event == SttEvent("final", "una mesa ok", 0.9, is_endpoint=True, language="es")


@pytest.mark.parametrize(("confidence", "language"), [(0.99, "es"), (0.4, None)])
def test_assemblyai_names_the_language_of_a_turn_when_it_is_sure(confidence: float, language: str | None) -> None:
    wire = AssemblyAiWire(choice("assemblyai", "universal-streaming-english", "en", "es"))
    asked = options(wire.connection_address(MULAW_8000, "en", ()).url)
    (found,) = wire.create_session(MULAW_8000, "en", ()).parse_message(
        {
            "type": "Turn",
            "turn_order": 0,
            "end_of_turn": True,
            "transcript": "una mesa",
            "words": [],
            "language_code": "es",
            "language_confidence": confidence,
        }
    )
    assert (asked["speech_model"], asked["language_detection"]) == (MULTILINGUAL, "true")
    assert isinstance(found, SttTranscript)
    assert found.event.language == language


@pytest.mark.parametrize(("languages", "names_it"), [((), True), (("en", "es"), False)])
def test_openai_finds_the_language_out_when_none_is_named(languages: tuple[str, ...], names_it: bool) -> None:
    wire = OpenAiRealtimeWire(choice("openai", "gpt-4o-transcribe", *languages))
    session = wire.create_session(MULAW_8000, "en", ())
    assert any('"language"' in str(message) for message in session.opening_messages()) == names_it
