"""What a call says without a model: in the language of the call, unless the agent's author wrote it."""

import re
from typing import Final

import pytest

from offhook.models.spoken_text import join_choices, join_keys
from offhook.voice.dialog.phrases import PHRASE_NAMES, phrase_languages, phrases_for
from offhook.voice.input.spoken_signals import lexicon_for
from offhook.workflows.analysis.languages import PHRASE_LANGUAGES
from offhook.workflows.configurations import Phrases
from tests.fakes.scripted import Hearing, ScriptedStt
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

SLOTS: Final = re.compile(r"\{\{.*?\}\}")


@pytest.mark.parametrize("language", phrase_languages())
class TestEveryLanguage:
    def test_has_every_phrase_with_the_same_slots(self, language: str) -> None:
        phrases, english = phrases_for(language), phrases_for("en")
        for name in PHRASE_NAMES:
            text = getattr(phrases, name)
            assert text.strip(), name
            assert SLOTS.findall(text) == SLOTS.findall(getattr(english, name)), name

    def test_says_each_phrase_in_its_own_words(self, language: str) -> None:
        phrases, english = phrases_for(language), phrases_for("en")
        same = [name for name in PHRASE_NAMES if getattr(phrases, name) == getattr(english, name)]
        assert same == (list(PHRASE_NAMES) if language == "en" else [])

    def test_joins_choices_and_keys(self, language: str) -> None:
        joining = phrases_for(language).joining
        for pattern in (joining.of_two, joining.of_more):
            said = pattern.format(first="A", last="B")
            assert said.index("A") < said.index("B")
        assert {"7", "X"} <= set(joining.key.format(digits="7", choice="X"))

    def test_has_a_lexicon_of_short_words(self, language: str) -> None:
        assert language == "en" or lexicon_for(language) != lexicon_for("en")


# Three keys, two choices, and one of each.
JOINED: Final = {
    "ar": ("1 من أجل x، 2 من أجل y أو 8 من أجل z", "x أو y", "1 من أجل x"),
    "de": ("1 für x, 2 für y oder 8 für z", "x oder y", "1 für x"),
    "en": ("1 for x, 2 for y, or 8 for z", "x or y", "1 for x"),
    "es": ("1 para x, 2 para y u 8 para z", "x o y", "1 para x"),
    "fr": ("1 pour x, 2 pour y ou 8 pour z", "x ou y", "1 pour x"),
    "hi": ("x के लिए 1, y के लिए 2 या z के लिए 8", "x या y", "x के लिए 1"),
    "ja": ("xは1、yは2、またはzは8", "x、またはy", "xは1"),
    "pt": ("1 para x, 2 para y ou 8 para z", "x ou y", "1 para x"),
    "ru": ("1 — x, 2 — y или 8 — z", "x или y", "1 — x"),
    "zh": ("x请按1、y请按2或z请按8", "x或y", "x请按1"),
}


@pytest.mark.parametrize("language", phrase_languages())
def test_keys_and_choices_are_listed_as_in_the_language(language: str) -> None:
    joining = phrases_for(language).joining
    keys = [("1", ["x"]), ("2", ["y"]), ("8", ["z"])]

    assert (join_keys(keys, joining), join_choices(["x", "y"], joining), join_keys(keys[:1], joining)) == JOINED[
        language
    ]


@pytest.mark.parametrize(
    ("choices", "joined"),
    [
        (["siete", "ocho"], "siete u ocho"),
        (["mañana", "hoy"], "mañana u hoy"),
        (["a las nueve", "a las diez", "otro día"], "a las nueve, a las diez u otro día"),
        (["10", "11"], "10 u 11"),
        (["100", "110"], "100 o 110"),
        (["hoy", "mañana"], "hoy o mañana"),
    ],
)
def test_spanish_has_another_or_before_the_same_sound(choices: list[str], joined: str) -> None:
    assert join_choices(choices, phrases_for("es").joining) == joined


def test_the_languages_are_those_that_the_checks_of_agents_know() -> None:
    assert set(PHRASE_LANGUAGES) == set(phrase_languages())
    assert len(phrase_languages()) == 10


def test_every_phrase_can_be_set_by_the_author() -> None:
    assert tuple(Phrases.model_fields) == PHRASE_NAMES


@pytest.mark.parametrize(("tag", "same"), [("pt-BR", "pt"), ("ES", "es"), ("fr_CA", "fr"), ("sv-SE", "en")])
def test_a_region_has_its_language_and_an_unknown_language_has_english(tag: str, same: str) -> None:
    assert phrases_for(tag) == phrases_for(same)


def test_a_silent_caller_is_asked_in_the_language_of_the_call() -> None:
    call = Call(simple_agent(), language="es-MX").hangs_up(at=16).run()

    assert call.agent_said[1] == "¿Sigue ahí?"


def test_the_authors_own_words_win() -> None:
    own = {"phrases": {"idle": "¿Hola? ¿Sigues conmigo?"}, "max_user_idle_timeout": 4}
    call = Call(simple_agent(), language="es", configurations=own).hangs_up(at=24).run()

    idle = "¿Hola? ¿Sigues conmigo?"
    assert call.agent_said[1:] == [idle, idle, phrases_for("es").idle_goodbye]


def test_choices_and_keys_are_joined_as_the_language_does() -> None:
    hearing = Hearing()
    definition = agent_graph(
        node("start", "startCall", prompt="Hilf.", greeting="Möchten Sie einen Tisch?", allow_interrupt=True),
        node("end", "endCall", prompt="Verabschiede dich.", say="Auf Wiederhören."),
        edge("start", "end", "table", examples=["ein Tisch"], digits="1"),
        edge("start", "end", "person", examples=["ein Mensch"], digits="0"),
    )
    call = Call(definition, language="de-DE", hearing=hearing, stts=[ScriptedStt(hearing, deaf=True)])
    call.mumbles(at=5).mumbles(at=16).mumbles(at=27).hangs_up(at=40).run()

    assert call.agent_said[1:] == [
        "Entschuldigung, das habe ich nicht verstanden. Möchten Sie einen Tisch?",
        "Das habe ich noch immer nicht verstanden. Sie können sagen: ein tisch oder ein mensch.",
        "Leider kann ich die Worte nicht erkennen. Sie können auch eine Taste drücken: 1 für ein tisch oder 0 für ein mensch.",
    ]
