"""Answering machines as callers, and expectations of cost and of the figures of turn-taking."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from offhook.models.ports import LlmUsage, ModelRef, TextDelta
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import ScenarioResult, run_scenario
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.questions import GivenAnswer, Question
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer
from offhook.scenarios.engine.played_sound import HeardAnswer, HeardInterruption, PlayedSound
from offhook.scenarios.errors import ScenariosInvalid
from offhook.scenarios.files import parse_scenarios, read_scenarios, write_scenarios
from offhook.scenarios.sound.player import SoundPlayer
from offhook.voice import events
from tests.scenarios.agents import agent, codes, play, scenario

MACHINE: dict[str, Any] = {"manner": {"voicemail": {"records_s": 12}}}
SALES: dict[str, Any] = {"turns": ["sales please"]}


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundPlayer]:
    with closing(SoundPlayer(tmp_path_factory.mktemp("recordings"))) as made:
        yield made


def call(player: SoundPlayer, voicemail: dict[str, Any], **fields: Any) -> ScenarioResult:
    of = agent(configurations={"voicemail_detection": voicemail})
    return run_scenario(of, scenario(**fields), BuiltinLlm, play=player.play_call)


class TestAnAnsweringMachine:
    @pytest.mark.parametrize("beeps", [True, False])
    @pytest.mark.slow
    def test_gets_the_agents_message(self, player: SoundPlayer, *, beeps: bool) -> None:
        machine = {"manner": {"voicemail": {"records_s": 25, "beeps": beeps}}}
        message = {"action": "message", "message": "This is the shop. Please call us back."}
        expect = {"outcome": "voicemail", "says": ["Please call us back"], "end_reason": "voicemail"}
        assert codes(call(player, message, caller=machine, expect=expect)) == []

    @pytest.mark.slow
    def test_is_hung_up_on(self, player: SoundPlayer) -> None:
        result = call(player, {"action": "hang_up"}, caller=MACHINE, expect={"outcome": "voicemail"})
        assert codes(result) == []
        assert result.played is not None
        (found,) = [event for event in result.played.journal if event.type == events.VOICEMAIL_DETECTED]
        assert found.data["action"] == "hang_up"

    @pytest.mark.slow
    def test_hangs_up_on_an_agent_that_does_not_notice(self, player: SoundPlayer) -> None:
        result = call(player, {"enabled": False}, caller=MACHINE, expect={"outcome": "voicemail"})
        assert codes(result) == ["outcome_differs"]
        assert result.played is not None
        assert result.played.end_reason == "caller_hung_up"

    def test_is_not_reached_by_text(self) -> None:
        assert codes(play(agent(), caller=MACHINE, expect={"outcome": "voicemail"})) == ["voicemail_needs_sound"]

    def test_is_written_to_files_and_read_again(self) -> None:
        scenarios = parse_scenarios([{"name": "box", "caller": MACHINE, "expect": {"outcome": "voicemail"}}])
        assert read_scenarios(write_scenarios(scenarios)) == scenarios


class Vendor:
    """Implements AnswerProvider: every answer takes a million tokens each way."""

    def __init__(self, model: ModelRef) -> None:
        self._model = model

    def answer_question(self, question: Question) -> GivenAnswer:
        pieces = (AnswerPiece(0.1, TextDelta("Which city?")), AnswerPiece(0.2, LlmUsage(1_000_000, 1_000_000)))
        return GivenAnswer(RecordedAnswer(pieces), self._model, is_recorded=True)


def cost_of(model: str, limit: float) -> ScenarioResult:
    ref = ModelRef("llm", "openai", model)
    with_limit = scenario(caller=SALES, expect={"max_cost_cents": limit})
    return run_scenario(agent(), with_limit, partial(AnsweredLlm, Vendor(ref), ref))


class TestCost:
    def test_the_built_in_model_costs_nothing(self) -> None:
        result = play(agent(), caller=SALES, expect={"max_cost_cents": 0})
        assert (codes(result), result.as_json()["cost_cents"]) == ([], 0.0)

    def test_tokens_cost_what_is_published(self) -> None:
        cents = cost_of("gpt-4.1", 100_000).as_json()["cost_cents"]
        assert isinstance(cents, float)
        assert cents > 0
        assert codes(cost_of("gpt-4.1", cents)) == []
        assert codes(cost_of("gpt-4.1", cents / 2)) == ["too_expensive"]

    def test_a_model_without_a_price_is_not_free(self) -> None:
        assert codes(cost_of("gpt-of-tomorrow", 100_000)) == ["cost_unknown"]


HEARD = PlayedSound(
    Path("heard.wav"),
    "",
    [],
    answers=[HeardAnswer(600, 0), HeardAnswer(1000, 1)],
    interruptions=[HeardInterruption(500, 2), HeardInterruption(None, 3)],
    talk_overs=[1],
    turns=3,
    answered=2,
)


class TestPanel:
    def test_figures_are_those_of_published_panels(self) -> None:
        assert HEARD.panel() == {"L_R": 0.8, "R_R": 0.667, "L_Y": 0.5, "R_Y": 0.5, "I_A": 0.2}
        nothing = PlayedSound(Path("heard.wav"), "", [])
        assert set(nothing.panel().values()) == {None}

    @pytest.mark.slow
    def test_of_a_call(self, player: SoundPlayer) -> None:
        panel = {"L_R": 2, "R_R": 1, "I_A": 0}
        result = run_scenario(
            agent(), scenario(caller=SALES, expect={"panel": panel}), BuiltinLlm, play=player.play_call
        )
        assert codes(result) == []
        strict = {"L_R": 0.01, "R_Y": 1}
        result = run_scenario(
            agent(), scenario(caller=SALES, expect={"panel": strict}), BuiltinLlm, play=player.play_call
        )
        assert codes(result) == ["panel_missed", "panel_not_measured"]

    @pytest.mark.parametrize("wrong", [{}, {"S_BC": 1}, {"R_R": 1.1}, {"L_R": 0}, {"I_A": -1}])
    def test_refuses_what_is_no_figure(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ScenariosInvalid):
            parse_scenarios([{"name": "one", "caller": SALES, "expect": {"panel": wrong}}])
