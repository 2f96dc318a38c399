"""An agent that speaks several languages follows its caller: recognizer, voice, model, phrases and fixed sentences."""

from collections.abc import Mapping
from typing import Any

import pytest

from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.call_state import CallState, ResumedCall
from offhook.voice.dialog.call_language import CallerLanguage
from offhook.voice.dialog.phrases import phrases_for
from offhook.voice.input.language_judge import LanguageJudge
from tests.fakes.scripted import Hearing, ScriptedLlm, ScriptedStt, ScriptedTts, says, takes
from tests.voice.phone import Call, agent_graph, edge, node
from tests.voice.recorded_phone import RecordedPhoneCall, replayed

GREETING = "Welcome to Blue Door. How can I help?"
GOODBYE = "You have a table. Goodbye."
LANGUAGES: list[dict[str, Any]] = [
    {"language": "en-US"},
    {"language": "es-MX", "translations": {GOODBYE: "Ya tiene mesa. Adiós."}},
]


class Bilingual(RecordedPhoneCall):
    """A call of an English and Spanish agent, with a recognizer and a voice for each of the languages."""

    def __init__(self, *replies: Any, reports: str | None = None, **settings: Any) -> None:
        hearing = Hearing()
        definition = agent_graph(
            node("start", "startCall", prompt="Take a booking.", greeting=GREETING, allow_interrupt=True),
            node("end", "endCall", prompt="Say goodbye.", say=GOODBYE),
            edge("start", "end", "booked"),
        )
        self.llm = ScriptedLlm(replies)
        self.ears = {tag: ScriptedStt(hearing, reports=reports, provider=tag) for tag in ("en-US", "es-MX")}
        self.voices = {tag: ScriptedTts(provider=tag) for tag in ("en-US", "es-MX")}
        by_language = {tag: self._models(tag) for tag in self.ears}
        super().__init__(
            definition,
            hearing=hearing,
            llms=[self.llm],
            stts=[self.ears["en-US"]],
            ttss=[self.voices["en-US"]],
            by_language=by_language,
            configurations={"languages": LANGUAGES, **settings},
        )

    def _models(self, tag: str) -> CallModels:
        return CallModels(llm=(self.llm,), tts=(self.voices[tag],), stt=(self.ears[tag],), language=tag)

    @property
    def changes(self) -> list[Mapping[str, Any]]:
        return [event.data for event in self.sink.events if event.type == events.LANGUAGE_CHANGED]

    def instructions(self, request: int) -> str:
        return self.llm.requests[request].messages[0].content


@pytest.fixture(autouse=True, scope="module")
def _judge() -> None:
    LanguageJudge.wait_ready()


class TestCallerWhoSpeaksSpanish:
    def test_is_answered_in_spanish_by_the_spanish_voice(self) -> None:
        call = Bilingual(says("Claro, ¿para cuántas personas?"))
        call.says("quisiera reservar una mesa para esta noche", at=4).hangs_up(at=22).run()

        assert call.changes == [{"from": "en-US", "to": "es-MX", "because": "words", "turns": 1}]
        assert "Answer in Spanish" in call.instructions(0)
        assert "Claro, ¿para cuántas personas?" in call.voices["es-MX"].spoken
        assert call.ears["es-MX"].languages == ["es-MX"]
        assert call.agent_said[:2] == [GREETING, "Claro, ¿para cuántas personas?"]
        # and then says nothing
        assert call.agent_said[2] == phrases_for("es").idle
        assert call.session._conversation.context["call_language"] == "es-MX"

    def test_hears_the_fixed_sentences_in_spanish(self) -> None:
        call = Bilingual(takes("booked"))
        call.says("quisiera reservar una mesa para esta noche", at=4).hangs_up(at=30).run()

        assert call.agent_said == [GREETING, "Ya tiene mesa. Adiós."]

    def test_is_believed_to_the_recognizer_that_reports_it(self) -> None:
        call = Bilingual(says("Claro."), reports="es")
        call.says("a table for two please now", at=4).hangs_up(at=10).run()

        assert call.changes == [{"from": "en-US", "to": "es-MX", "because": "reported", "turns": 1}]

    def test_can_go_back_to_english(self) -> None:
        call = Bilingual(says("Claro."), says("Sure."))
        call.says("quisiera reservar una mesa para esta noche", at=4)
        call.says("sorry could we please speak English instead", at=10).hangs_up(at=18).run()

        assert [change["to"] for change in call.changes] == ["es-MX", "en-US"]
        assert "Answer in English" in call.instructions(1)
        assert "Sure." in call.voices["en-US"].spoken


class TestCallerWhoStaysInEnglish:
    @pytest.mark.parametrize("words", ["hola", "María González", "¡Buenos!"])
    def test_says_a_single_word_or_a_name(self, words: str) -> None:
        call = Bilingual(says("Hello."), says("Hello again."))
        call.says(words, at=4).says(words, at=9).hangs_up(at=14).run()

        assert call.changes == []
        assert "Answer in English" in call.instructions(0)
        assert call.ears["es-MX"].opened == 0

    def test_speaks_a_language_that_the_agent_does_not_speak(self) -> None:
        call = Bilingual(says("Sorry?"), reports="fr")
        call.says("je voudrais réserver une table pour ce soir", at=4).hangs_up(at=9).run()

        assert call.changes == []


def test_the_call_is_replayed_from_its_journal() -> None:
    call = Bilingual(says("Claro."), says("Sure."))
    call.says("quisiera reservar una mesa para esta noche", at=4)
    call.says("sorry could we please speak English instead", at=10).hangs_up(at=18).run()

    again = call.play_again()
    assert len(call.changes) == 2
    assert replayed(again) == call.stored()
    assert again.deviations == 0


def test_another_session_goes_on_in_the_language_of_the_call() -> None:
    first = Bilingual(says("Claro."))
    states: list[CallState] = []
    first.says("quisiera reservar una mesa para esta noche", at=4)
    first.does(lambda call: states.append(call.session.snapshot()), at=9).hangs_up(at=9.5).run()

    second = Bilingual(says("Muy bien."))
    later = Call(
        second.definition,
        hearing=second.hearing,
        llms=second.llms,
        stts=second.stts,
        ttss=second.ttss,
        by_language=second.by_language,
        configurations=second.configurations,
        resumed=ResumedCall(states[0], age_s=2.0),
    )
    later.says("para dos personas", at=6).hangs_up(at=12).run()

    assert states[0].get("language") == "es-MX"
    assert phrases_for("es").resumed in later.agent_said[0]
    assert "Muy bien." in second.voices["es-MX"].spoken
    assert second.ears["en-US"].opened == 0
    assert "Answer in Spanish" in second.instructions(0)


def test_two_short_turns_are_enough() -> None:
    caller = CallerLanguage(("en", "es"), LanguageJudge.judge)

    assert caller.hear("sí por favor", None) is None
    change = caller.hear("para dos personas", None)
    assert change is not None
    assert (change.language, change.turns) == ("es", 2)


def test_a_turn_in_the_language_of_the_call_starts_the_count_anew() -> None:
    caller = CallerLanguage(("en", "es"), LanguageJudge.judge)

    turns = ["sí por favor", "I need a table", "sí por favor"]
    assert [caller.hear(text, None) for text in turns] == [None, None, None]


def test_an_agent_of_one_language_is_told_nothing() -> None:
    call = Call(agent_graph(node("start", "startCall", prompt="Help.", greeting=GREETING)), [says("Yes.")])
    llm = ScriptedLlm([says("Yes.")])
    call.llms = [llm]
    call.says("quisiera reservar una mesa para esta noche", at=4).hangs_up(at=9).run()

    assert "Answer in English" not in llm.requests[0].messages[0].content
