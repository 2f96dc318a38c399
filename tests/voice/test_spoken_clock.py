"""Days and times in what an agent says and reads are in the language of the call; what programs read stays as it is."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from offhook.kit.template import render_json, render_template, use_wall_clock
from offhook.models.ports import CallModels
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.dialog.phrases import phrase_languages
from offhook.voice.dialog.prompts import edge_tools, hint_for
from offhook.voice.dialog.spoken_clock import spoken_clock, written_clock
from offhook.voice.input.language_judge import LanguageJudge
from offhook.voice.text_session import TextSession
from offhook.workflows.graph import parse_graph
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import ScriptedLlm, says, takes
from tests.fakes.voice import KeptEvents, Tools
from tests.voice.phone import agent_graph, edge, node
from tests.voice.recorded_phone import RecordedPhoneCall
from tests.voice.test_languages import Bilingual

AFTERNOON = datetime(2026, 1, 5, 14, 5, 9, tzinfo=UTC)  # a Monday
GREETING = "Hoy es {{ current_weekday }}."
GOODBYE = "You have a table. It is {{ current_weekday }}. Goodbye."

SAID = {
    "ar": ("الاثنين", "5 يناير 2026، 2:05 م"),
    "de": ("Montag", "5. Januar 2026, 14:05"),
    "en": ("Monday", "2026-01-05 14:05:09 UTC"),
    "es": ("lunes", "5 de enero de 2026, 14:05"),
    "fr": ("lundi", "5 janvier 2026, 14:05"),
    "hi": ("सोमवार", "5 जनवरी 2026, 2:05 pm"),
    "ja": ("月曜日", "2026年1月5日 14:05"),
    "pt": ("segunda-feira", "5 de janeiro de 2026 14:05"),
    "ru": ("понедельник", "5 января 2026 г., 14:05"),
    "zh": ("星期一", "2026年1月5日 14:05"),
}


@pytest.fixture(autouse=True)
def _on_a_monday() -> Iterator[None]:
    with use_wall_clock(lambda: AFTERNOON):
        yield


@pytest.fixture(scope="module")
def _judge() -> None:
    LanguageJudge.wait_ready()


class TestSentences:
    @pytest.mark.parametrize("language", phrase_languages())
    def test_are_in_each_language(self, language: str) -> None:
        clock = spoken_clock(language)
        weekday, time = SAID[language]

        assert render_template("{{ current_weekday }}", {}, now=AFTERNOON, clock=clock) == weekday
        assert render_template("{{ current_time }}", {}, now=AFTERNOON, clock=clock) == time

    @pytest.mark.parametrize(
        ("language", "weekday", "time"),
        [
            ("es-MX", "lunes", "5 de enero de 2026, 2:05 p.m."),
            ("pt_BR", "segunda-feira", "5 de janeiro de 2026 14:05"),
            ("it-IT", "lunedì", "5 gennaio 2026 14:05"),
            ("es-XX", "lunes", "5 de enero de 2026, 14:05"),
            ("en-GB", "Monday", "2026-01-05 14:05:09 UTC"),
            ("", "Monday", "2026-01-05 14:05:09 UTC"),
            ("xx", "Monday", "2026-01-05 14:05:09 UTC"),
            ("not a language", "Monday", "2026-01-05 14:05:09 UTC"),
        ],
    )
    def test_are_in_any_other_language_or_region(self, language: str, weekday: str, time: str) -> None:
        text = "{{ current_weekday }} / {{ current_time }}"

        assert render_template(text, {}, now=AFTERNOON, clock=spoken_clock(language)) == f"{weekday} / {time}"

    def test_are_in_the_time_zone_that_is_named(self) -> None:
        text = "{{ current_weekday_Pacific/Auckland }}, {{ current_time }}"

        said = render_template(text, {}, now=AFTERNOON, clock=spoken_clock("fr"))
        assert said == "mardi, 6 janvier 2026, 03:05"

    def test_have_a_value_of_the_call_as_it_is(self) -> None:
        context = {"current_weekday": "Friday"}

        assert render_template(GREETING, context, clock=spoken_clock("es")) == "Hoy es Friday."


def test_prompts_have_the_time_with_seconds_and_zone() -> None:
    text = "{{ current_weekday_Europe/Madrid }} {{ current_time }}"

    assert render_template(text, {}, now=AFTERNOON, clock=written_clock("es", "")) == "lunes 2026-01-05 15:05:09 CET"


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("If {{ current_weekday }} is Sunday, we are closed.", "If Monday is Sunday, we are closed."),
        ("{{ current_weekday }}: closed on SUNDAYS", "Monday: closed on SUNDAYS"),
        ("Si {{ current_weekday }} es domingo, cerramos.", "Si lunes es domingo, cerramos."),
        ("Today is {{ current_weekday }}.", "Today is lunes."),
        ("{{ current_weekday }}: sundae", "lunes: sundae"),
    ],
)
def test_a_prompt_that_compares_with_a_day_in_english_gets_it_in_english(prompt: str, read: str) -> None:
    assert render_template(prompt, {}, now=AFTERNOON, clock=written_clock("es-MX", prompt)) == read


def test_tools_conditions_and_the_built_in_model_have_them_plain() -> None:
    graph = parse_graph(
        agent_graph(
            node("start", "startCall", prompt="Help on {{ current_weekday }}.", greeting=GREETING),
            node("end", "endCall", prompt="Say goodbye."),
            edge("start", "end", "open", condition="It is a {{ current_weekday }}"),
        )
    )
    edges = graph.edges_from("start")
    assert "It is a Monday" in edge_tools(edges, {"call_language": "es"})[0].description
    assert hint_for(graph.nodes["start"], edges, (), {"call_language": "es"}, entered=True).weekday == "Monday"
    assert render_json({"day": "{{ current_weekday }}"}, {"call_language": "es"}) == {"day": "Monday"}


class TestACallInSpanish:
    def _call(self, **kept: Any) -> RecordedPhoneCall:
        definition = agent_graph(node("start", "startCall", prompt="Hoy es {{ current_weekday }}.", greeting=GREETING))
        return RecordedPhoneCall(definition, [says("Claro.")], language="es-ES", **kept)

    def test_says_the_day_in_spanish_and_so_does_its_replay(self) -> None:
        call = self._call()
        call.hangs_up(at=4)
        call.run()
        again = [seen.data["text"] for seen in call.play_again().observations if seen.kind == "spoke"]

        assert call.agent_said[0] == "Hoy es lunes."
        assert again == ["Hoy es lunes."]

    def test_tells_the_model_the_day_in_spanish(self) -> None:
        call, llm = self._call(), ScriptedLlm([says("Claro.")])
        call.llms = [llm]
        call.says("quisiera una mesa", at=4).hangs_up(at=9).run()

        assert "Hoy es lunes." in llm.requests[0].messages[0].content


@pytest.mark.usefixtures("_judge")
class TestACallerWhoChangesLanguage:
    def _bilingual(self, translations: dict[str, str]) -> Bilingual:
        spanish = {"language": "es-MX", "translations": translations}
        call = Bilingual(takes("booked"), languages=[{"language": "en-US"}, spanish])
        call.definition["nodes"][0]["data"]["prompt"] = "Today is {{ current_weekday }}."
        call.definition["nodes"][1]["data"]["say"] = GOODBYE
        call.says("quisiera reservar una mesa para esta noche", at=4).hangs_up(at=30).run()
        return call

    def test_hears_the_day_in_the_language_of_the_translation(self) -> None:
        call = self._bilingual({GOODBYE: "Ya tiene mesa. Es {{ current_weekday }}. Adiós."})

        assert call.agent_said[-1] == "Ya tiene mesa. Es lunes. Adiós."
        assert "Today is lunes." in call.instructions(0)

    def test_hears_the_day_in_the_language_of_a_sentence_without_translation(self) -> None:
        call = self._bilingual({})

        assert call.agent_said[-1] == "You have a table. It is Monday. Goodbye."


def test_a_text_chat_has_the_day_in_its_language() -> None:
    async def talk() -> None:
        graph = parse_graph(agent_graph(node("start", "startCall", prompt="Help.", greeting=GREETING)))
        agent = CallAgent(graph, CallConfig(), Tools(), {})
        models = CallModels((ScriptedLlm([]),), (), (), language="es-ES")
        session = TextSession(agent=agent, models=models, sink=KeptEvents())

        assert await session.start() == ["Hoy es lunes."]

    run_virtual(talk())


def test_a_process_of_english_calls_does_not_load_babel() -> None:
    code = (
        "import sys\n"
        "from offhook.voice.dialog.spoken_clock import prepare_clock, spoken_clock\n"
        "prepare_clock('en-US'); spoken_clock('en-US')\n"
        "assert 'babel' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
