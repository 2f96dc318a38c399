"""Answers of models in calls with sound: as late as they came, with a caller by a model, and without one that is missing."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from offhook.models.ports import ModelRef, TextDelta, ToolCall, ToolCalled
from offhook.scenarios import ScenarioResult, run_scenario
from offhook.scenarios.answers.model import AnsweredLlm
from offhook.scenarios.answers.questions import GivenAnswer, Question
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.sound.player import SoundPlayer
from tests.scenarios.agents import agent, codes, scenario

MODEL = ModelRef("llm", "openai", "gpt-4.1")
SALES: dict[str, Any] = {"turns": ["sales please"]}


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundPlayer]:
    with closing(SoundPlayer(tmp_path_factory.mktemp("recordings"))) as made:
        yield made


class Vendor:
    """Implements AnswerProvider: takes its time, goes to sales when it hears of them, and plays a caller."""

    def __init__(self, takes_s: float = 0.2, moves: tuple[str, ...] = (), *, is_gone: bool = False) -> None:
        self._takes_s = takes_s
        self._moves = iter(moves)
        self._is_gone = is_gone

    def answer_question(self, question: Question) -> GivenAnswer:
        if question.asked == "helper":
            return self._give(TextDelta(next(self._moves)))
        if self._is_gone:
            raise AnswerRefused("answer_not_recorded", "there is no recorded answer")
        last = question.request["messages"][-1]["content"]  # type: ignore[index,call-overload]
        names = [tool["name"] for tool in question.request["tools"]]  # type: ignore[union-attr,index,call-overload]
        sales = next((name for name in names if "sales" in str(name)), None)
        if "sales" in str(last) and sales is not None:
            return self._give(ToolCalled(ToolCall("1", str(sales), {})))
        return self._give(TextDelta("Which city are you in?"))

    def _give(self, event: Any) -> GivenAnswer:
        return GivenAnswer(RecordedAnswer((AnswerPiece(self._takes_s, event),)), MODEL, is_recorded=True)


def call(player: SoundPlayer, vendor: Vendor, **fields: Any) -> ScenarioResult:
    return run_scenario(agent(), scenario(**fields), partial(AnsweredLlm, vendor, MODEL), play=player.play_call)


def longest_answer_ms(result: ScenarioResult) -> int:
    assert result.played is not None
    assert result.played.sound is not None
    return max(answer.silence_ms for answer in result.played.sound.answers)


def test_a_slow_vendor_is_heard_as_slow(player: SoundPlayer) -> None:
    expect = {"edges": ["start-sales"], "says": ["Which city"]}
    quick, slow = (call(player, Vendor(takes), caller=SALES, expect=expect) for takes in (0.2, 1.0))
    assert (codes(quick), codes(slow)) == ([], [])
    # two answers: the one that takes the transition, and the question
    assert 1000 < longest_answer_ms(slow) - longest_answer_ms(quick) <= 1700


def test_an_answer_that_is_missing_fails_the_call_at_its_turn(player: SoundPlayer) -> None:
    result = call(player, Vendor(is_gone=True), caller=SALES, expect={"end": "bye"})
    assert codes(result) == ["answer_not_recorded"]
    assert (result.faults[0].turn, "the step “start”" in result.faults[0].message) == (0, True)


def test_a_model_speaks_as_the_caller(player: SoundPlayer) -> None:
    moves = (
        '{"action": "say", "words": "I think sales please", "keys": ""}',
        '{"action": "hang_up", "words": "", "keys": ""}',
    )
    caller = {"model": {"persona": "Ada", "goal": "Buy a kettle"}}
    expect = {"edges": ["start-sales"], "end_reason": "caller_hung_up"}
    assert codes(call(player, Vendor(moves=moves), caller=caller, expect=expect)) == []
